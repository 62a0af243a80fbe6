"""What a response says that is not a reply: the error that it is, and the wait that it asks for.

    failure_of(error, server, settings)                 Unanswered(RateLimited("... answered 429"))
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
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx2

from runtime_support._redaction import shown
from runtime_support._values import is_list, is_object
from runtime_support.errors import (
    AuthenticationFailed,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    Refused,
)
from runtime_support.providers._transport import SILENT
from runtime_support.providers._wires import SHOWN, Rejected, Unanswered, request_id_of

if TYPE_CHECKING:
    from runtime_support._settings import Settings
    from runtime_support.providers._server import Server

_REFUSING = (400, 404, 422)
_BUSY = (429, 503, 529)
_BROKEN = (408, 409)

# Only the beginning of a body is looked through for what can be shown of it.
_LOOKED_THROUGH = 65_536

# What providers call an account that has nothing left. Google words every limit as OpenAI words
# this one ("You exceeded your current quota"), so these words alone tell nothing.
_USED_UP = ("insufficient_quota", "billing_hard_limit_reached", "insufficient_balance")
_NO_CREDIT = re.compile(r"insufficient (credit|balance|funds)|credit balance is too low")
_TOO_LARGE = re.compile(r"request (entity )?too large|tokens must be reduced")
_TRY_AGAIN = re.compile(
    r"(?:try again|retry) (?:in|after) "
    r"((?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|seconds?|m|minutes?|h|hours?)(?![a-z])[ ,]*)+)"
)
_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(ms|milli|s|m|h)")
_SECONDS = {"ms": 0.001, "milli": 0.001, "s": 1, "m": 60, "h": 3600}

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
_USED_UP_HINT = "the account of the key has nothing left: add to it, or use another key"

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


def failure_of(error: Exception, server: Server, settings: Settings) -> Exception:
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
            return Unanswered(_late(str(cause), server.address, settings), "broken")
        case httpx2.DecodingError() | httpx2.RemoteProtocolError() | httpx2.ReadError():
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


def _late(reason: str, address: str, settings: Settings) -> ProviderTimeout:
    """The error of a try that took too long, with the setting that has ended it."""
    if reason == SILENT:
        return ProviderTimeout(
            f"{address} sent nothing for {settings.silence:g} s",
            hint="raise `silence`: some models think for minutes before they answer",
        )
    return ProviderTimeout(
        f"{address} did not answer within {settings.timeout:g} s",
        hint="raise `timeout`, or ask for less",
    )


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
    error, complaint = error_of(response, address), Complaint.of(response)
    status = response.status_code
    if status in _REFUSING:
        return Rejected(error, complaint.shown().lower())
    is_final = complaint.is_used_up or complaint.is_too_large
    if is_final or response.headers.get("x-should-retry") == "false":
        return error
    return _as_status(error, asked_wait(response))


def _as_status(error: ProviderError | Refused, wait: float | None = None) -> Exception:
    """The error, Unanswered where its status says that another try may do."""
    if isinstance(error, Refused) or error.hint in (_TOO_LONG_HINT, _USED_UP_HINT):
        return error
    wait = getattr(error, "retry_after", None) if wait is None else wait
    status = error.status or 0
    if status in _BUSY:
        return Unanswered(error, "busy", wait)
    return Unanswered(error, "broken", wait) if status in _BROKEN or status >= 500 else error


def _damaged(address: str, cause: str) -> Unanswered:
    said = f"the answer of {address} cannot be read: {cause}"
    broken = ProviderError(said, hint="ask again: it was cut off or damaged")
    return Unanswered(broken, "broken")


class Complaint(NamedTuple):
    """What the body of an error says: its words, its codes, and the details that Google adds."""

    words: str
    codes: frozenset[str] = frozenset()
    details: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, response: httpx2.Response) -> Complaint:
        """The complaint in the beginning of a body, which may be no JSON."""
        text = response.content[:_LOOKED_THROUGH].decode(errors="replace").strip()
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            return cls(text)
        if is_list(body) and body:  # as Google sends it
            body = body[0]
        return cls.read(body.get("error", body) if is_object(body) else body)

    @classmethod
    def read(cls, error: Any) -> Complaint:
        """The complaint that an error is, as JSON data."""
        if not is_object(error):
            return cls(str(error) if error else "")
        names = (error.get(name) for name in ("code", "type", "status"))
        details = error.get("details")
        return cls(
            str(error.get("message") or error),
            frozenset(str(name) for name in names if isinstance(name, str | int)),
            tuple(filter(is_object, details)) if is_list(details) else (),
        )

    @property
    def is_used_up(self) -> bool:
        """Whether the account has nothing left, which no wait will change."""
        if not self.codes.isdisjoint(_USED_UP) or _NO_CREDIT.search(self.words.lower()):
            return True
        return "PerDay" in json.dumps(self.details) and self.wait is None

    @property
    def is_too_large(self) -> bool:
        """Whether the request is larger than the server takes at once, whenever it comes."""
        words = self.words.lower()
        is_said = _TOO_LARGE.search(words) or _TOO_LONG.search(words)
        return "context_length_exceeded" in self.codes or is_said is not None

    @property
    def wait(self) -> float | None:
        """The seconds that it asks to wait."""
        delays = [one["retryDelay"] for one in self.details if "retryDelay" in one]
        found = _TRY_AGAIN.search(self.words.lower())
        told = str(delays[0]) if delays else found[1] if found else ""
        parts = [float(number) * _SECONDS[unit] for number, unit in _DURATION.findall(told)]
        return round(sum(parts), 3) if parts else None

    def shown(self, most: int | None = None) -> str:
        """Its words, fit to be shown."""
        return shown(self.words, most) or "no explanation"


def error_of(response: httpx2.Response, address: str) -> ProviderError:
    """The error that a response with the status of one is."""
    status, complaint = response.status_code, Complaint.of(response)
    request_id = request_id_of(response)
    said = f"{shown(address)} answered {status}: {complaint.shown(SHOWN)}"
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
    kind = RateLimited if status == 429 else ProviderError
    error = kind(said, status=status, request_id=request_id, hint=_hint_of(status, complaint))
    if isinstance(error, RateLimited):
        error.retry_after = wait
    return error


def _hint_of(status: int, complaint: Complaint) -> str | None:
    if status == 413 or (status in (400, 422, 429) and complaint.is_too_large):
        return _TOO_LONG_HINT
    if status == 402 or (status == 429 and complaint.is_used_up):
        return _USED_UP_HINT
    if status == 429:
        return "ask again later, or for less at once"
    if status == 404:
        return "check `model`, `base_url` and `wire`"
    if status in (400, 422) and "/v1/responses" in complaint.words.lower():
        return 'set `wire` to "responses", and name `effort` as an option of the prompt'
    return None


def refusal_of(response: httpx2.Response) -> Refused | None:
    """The error when the provider declines the prompt itself, as its filters or policies say."""
    if response.status_code not in (400, 403):
        return None
    complaint = Complaint.of(response)
    said = complaint.shown(SHOWN)
    is_declined = not complaint.codes.isdisjoint(_DECLINED) or _FILTERED.search(said.lower())
    return _declined(said) if is_declined else None


def _declined(said: str) -> Refused:
    return Refused(f"the provider declined the prompt: {said}", text=said)


def asked_wait(response: httpx2.Response) -> float | None:
    """The seconds that the server asks to wait, in one of its headers or in the body."""
    for name, parts in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(response.headers[name]) / parts)
        except (KeyError, ValueError):
            continue
    date = email.utils.parsedate_tz(response.headers.get("retry-after"))
    if date is None:
        return Complaint.of(response).wait
    try:
        return max(0.0, round(email.utils.mktime_tz(date) - time.time(), 1))
    except (OverflowError, ValueError):
        return None


def reported_error(error: Any, request_id: str | None) -> ProviderError | Refused:
    """The error that a server reports with a status that is none."""
    complaint = Complaint.read(error)
    words = shown(complaint.words, SHOWN)
    if not complaint.codes.isdisjoint(_DECLINED):
        return _declined(words)
    status = max(filter(None, map(_status_of, complaint.codes)), default=None)
    kind = RateLimited if status == 429 else ProviderError
    hint = _TOO_LONG_HINT if complaint.is_too_large else None
    hint = _USED_UP_HINT if complaint.is_used_up else hint
    told = kind(f"the server reports: {words}", status=status, request_id=request_id, hint=hint)
    if isinstance(told, RateLimited):
        told.retry_after = complaint.wait
    return told


def _status_of(code: str) -> int | None:
    """The status that a code is, or means."""
    return int(code) if re.fullmatch("[45][0-9]{2}", code) else _STATUSES.get(code)


def excerpt(content: bytes) -> str:
    """The beginning of a body, fit to be shown."""
    return shown(content[:_LOOKED_THROUGH].decode(errors="replace"), SHOWN) or "nothing"
