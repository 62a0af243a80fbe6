"""What a response says that is not a reply: the error that it is, and the wait that it asks for.

    failure_of(error, server, timeout)                  Unanswered(RateLimited("... answered 429"))
    error_of(response, "https://api.openai.com/v1")     RateLimited("... answered 429: ...")
    asked_wait(response)                                12.0

It is loaded when a try has failed for the first time. Errors quote what servers and models wrote
redacted, escaped and cut; never a key.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from typing import TYPE_CHECKING, Any

import httpx2

from runtime_support._redaction import shown
from runtime_support._values import is_object
from runtime_support.errors import (
    AuthenticationFailed,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    Refused,
)
from runtime_support.providers._wires import SHOWN, Rejected, Unanswered, request_id_of

if TYPE_CHECKING:
    from runtime_support.providers._server import Server

_REFUSING = (400, 404, 422)
_BUSY = (429, 503, 529)
_BROKEN = (408, 409)

# Only the beginning of a body is looked through for what can be shown of it.
_LOOKED_THROUGH = 65_536

_USED_UP = re.compile(
    r"insufficient_quota|exceeded your current quota|billing_hard_limit"
    r"|insufficient (credits|balance)"
)


# What providers call it when they decline a prompt, or when it is longer than a model can read.
_DECLINED = (
    *("content_filter", "content_policy_violation", "invalid_prompt", "bio_policy"),
    *("misalignment_policy_violation", "image_content_policy_violation"),
)
_FILTERED = re.compile(r"blocked by content filtering policy")
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|context window|context size"
    r"|exceed context limit|prompt is too long|input token count .* exceeds"
)
_TOO_LONG_HINT = "send less, or choose a model that reads more at once"

# The status that a code means where a response has the status of a success.
_STATUSES = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "server_error": 500,
    "api_error": 500,
    "overloaded_error": 529,
    "timeout_error": 504,
    "vector_store_timeout": 504,
}


def failure_of(error: Exception, server: Server, timeout: float) -> Exception:
    """The error of a try as ours: Unanswered where another try may do, Rejected where it may in
    another form. A ValueError is what is neither JSON nor text.
    """
    if isinstance(error, ProviderError):
        return _as_status(error)
    if not isinstance(error, (server.error, httpx2.RequestError)):
        return _damaged(server.address, shown(str(error), SHOWN))
    package: Any = server.package
    if isinstance(error, package.APIStatusError):
        return _of_status(error, server.address)
    cause: Any = error.__cause__ if isinstance(error, package.APIConnectionError) else error
    match cause:
        case httpx2.TimeoutException():
            late = ProviderTimeout(
                f"{server.address} did not answer within {timeout:g} s",
                hint="raise `timeout`, or ask for less",
            )
            return Unanswered(late, "broken")
        case httpx2.DecodingError() | httpx2.RemoteProtocolError():
            return _damaged(server.address, shown(str(cause), SHOWN))
        case package.APIError():
            return _as_status(reported_error(cause.body or cause.message, None))
        case _ if isinstance(cause, server.error):
            return ProviderError(shown(str(cause), SHOWN))
        case _:
            said = shown(str(cause or error), SHOWN)
            away = ProviderError(
                f"cannot reach {server.address}: {said}", hint="check `base_url` and the network"
            )
            return Unanswered(away, "away")


def _of_status(status_error: Any, address: str) -> Exception:
    """The error that a response with the status of one means: whether to ask again, and how."""
    response: httpx2.Response = status_error.response
    if response.is_success:  # an event of a stream reported it
        body = status_error.body if is_object(status_error.body) else {}
        told = body.get("error") or status_error.message
        return _as_status(reported_error(told, body.get("request_id")))
    refusal = refusal_of(response)
    if refusal is not None:
        return refusal
    error = error_of(response, address)
    status = response.status_code
    if status in _REFUSING:
        return Rejected(error, refusal_words(response).lower())
    if is_used_up(response) or response.headers.get("x-should-retry") == "false":
        return error
    return _as_status(error, asked_wait(response))


def _as_status(error: ProviderError | Refused, wait: float | None = None) -> Exception:
    """The error, Unanswered where its status says that another try may do."""
    if isinstance(error, Refused):
        return error
    status = error.status or 0
    if status in _BUSY:
        return Unanswered(error, "busy", wait)
    return Unanswered(error, "broken", wait) if status in _BROKEN or status >= 500 else error


def _damaged(address: str, cause: str) -> Unanswered:
    said = f"the answer of {address} cannot be read: {cause}"
    broken = ProviderError(said, hint="ask again: it was cut off or damaged")
    return Unanswered(broken, "broken")


def error_of(response: httpx2.Response, address: str) -> ProviderError:
    """The error that a response with the status of one is."""
    status = response.status_code
    request_id = request_id_of(response)
    said = f"{shown(address)} answered {status}: {refusal_words(response, SHOWN)}"
    wait = asked_wait(response)
    if wait is not None:
        said += f"; it asks to wait {wait:g} s"
    if status in (401, 403):
        return AuthenticationFailed(
            said,
            status=status,
            request_id=request_id,
            hint="check the key, and `api_key_env`, which names its variable",
        )
    if status == 429:
        hint = "ask again later, or for less at once"
        if is_used_up(response):
            hint = "the account of the key has nothing left: add to it, or use another key"
        limited = RateLimited(said, status=status, request_id=request_id, hint=hint)
        limited.retry_after = wait
        return limited
    hint = "check `model`, `base_url` and `wire`" if status == 404 else None
    if status in (400, 413, 422):
        hint = _hint_of(response.text[:_LOOKED_THROUGH].lower())
    return ProviderError(said, status=status, request_id=request_id, hint=hint)


def refusal_of(response: httpx2.Response) -> Refused | None:
    """The error when the provider declines the prompt itself, as its filters or policies say."""
    if response.status_code not in (400, 403):
        return None
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    error = body.get("error") if is_object(body) else None
    if not is_object(error):
        return None
    said = refusal_words(response, SHOWN)
    is_declined = error.get("code") in _DECLINED or _FILTERED.search(said.lower())
    return _declined(said) if is_declined else None


def _declined(said: str) -> Refused:
    return Refused(f"the provider declined the prompt: {said}", text=said)


def _hint_of(words: str) -> str | None:
    if _TOO_LONG.search(words):
        return _TOO_LONG_HINT
    if "/v1/responses" in words:
        return 'set `wire` to "responses", and name `effort` as an option of the prompt'
    return None


def refusal_words(response: httpx2.Response, most: int | None = None) -> str:
    """What the server says of its error, fit to be shown."""
    text = response.content[:_LOOKED_THROUGH].decode(errors="replace").strip()
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return shown(text, most) or "no explanation"
    error = body.get("error", body) if is_object(body) else body
    message = error.get("message") if is_object(error) else None
    return shown(str(message or error), most) if error else "no explanation"


def is_used_up(response: httpx2.Response) -> bool:
    """Whether the account has no money left, which no wait will change."""
    return response.status_code == 429 and _USED_UP.search(response.text) is not None


def asked_wait(response: httpx2.Response) -> float | None:
    """The seconds that the server asks to wait, of which it has three ways to tell."""
    for name, parts in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(response.headers[name]) / parts)
        except (KeyError, ValueError):
            continue
    date = email.utils.parsedate_tz(response.headers.get("retry-after"))
    if date is None:
        return None
    try:
        return max(0.0, round(email.utils.mktime_tz(date) - time.time(), 1))
    except (OverflowError, ValueError):
        return None


def reported_error(error: Any, request_id: str | None) -> ProviderError | Refused:
    """The error that a server reports with a status that is none."""
    message, code = error, None
    if is_object(error):
        message, code = error.get("message") or error, error.get("code") or error.get("type")
    said = f"the server reports: {shown(str(message), SHOWN)}"
    if code in _DECLINED:
        return _declined(shown(str(message), SHOWN))
    status = code if type(code) is int else _STATUSES.get(str(code))
    hint = _TOO_LONG_HINT if code == "context_length_exceeded" else None
    kind = RateLimited if status == 429 else ProviderError
    return kind(said, status=status, request_id=request_id, hint=hint)


def excerpt(content: bytes) -> str:
    """The beginning of a body, fit to be shown."""
    return shown(content[:_LOOKED_THROUGH].decode(errors="replace"), SHOWN) or "nothing"
