"""Interprets errors of providers: which error to raise, and whether a retry may help.

    failure_of(error, server, settings)                 RateLimited("... answered 429: ...")
    reported_error({"code": 502, ...}, request_id)      ProviderError("the server reports: ...")

The module is loaded when a request fails for the first time. Error messages quote servers and
models redacted, escaped and cut; they never contain a key.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import httpcore2
import httpx2

from runtime_support._core.redaction import shown
from runtime_support._values.kinds import is_list, is_object
from runtime_support.errors import (
    AuthenticationFailed,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    Refused,
)
from runtime_support.providers._clients import SILENT
from runtime_support.providers._wires import SHOWN, Rejected, request_id_of

if TYPE_CHECKING:
    from runtime_support._core.settings import Settings
    from runtime_support.providers._server import Server

E = TypeVar("E", bound=ProviderError)

_REFUSING = (400, 404, 422)
_BUSY = (429, 503, 529)
_BROKEN = (408, 409)

# Only this many bytes of a body are parsed and quoted.
_LOOKED_THROUGH = 65_536

# Error codes for an account without credit. Google uses OpenAI's words for it ("You exceeded your
# current quota") for every rate limit, so these words prove nothing.
_USED_UP = ("insufficient_quota", "billing_hard_limit_reached", "insufficient_balance")
_NO_CREDIT = re.compile(r"insufficient (credit|balance|funds)|credit balance is too low")
_TOO_LARGE = re.compile(r"request (entity )?too large|tokens must be reduced")
_TRY_AGAIN = re.compile(
    r"(?:try again|retry) (?:in|after) "
    r"((?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|seconds?|m|minutes?|h|hours?)(?![a-z])[ ,]*)+)"
)
_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(ms|milli|s|m|h)")
_SECONDS = {"ms": 0.001, "milli": 0.001, "s": 1, "m": 60, "h": 3600}

# Error codes and words for a declined prompt, and for a prompt that exceeds the model's context.
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

# The HTTP status that an error code stands for, if the response itself has a success status.
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
    """Converts the error of one attempt to an error of the runtime.

    Its `another_try` says whether a retry may help. Returns Rejected if the server may accept
    another form of the request. A ValueError as `error` means that the response is neither JSON nor
    text.
    """
    package: Any = server.package
    if isinstance(error, package.APIStatusError):
        response: Any = error
        return _of_response(response.response, server.address)
    cause: Any = error.__cause__ if isinstance(error, package.APIConnectionError) else error
    said = shown(str(cause or error), SHOWN)
    match cause:
        case ProviderError():
            return _as_status(cause)
        case httpcore2.ConnectTimeout() | httpcore2.PoolTimeout():  # nothing was sent
            late = ProviderTimeout(
                f"cannot reach {server.address} within {settings.timeout:g} s",
                hint="check `base_url` and the network",
            )
            return _retryable(late, "away")
        case httpcore2.TimeoutException():
            return _retryable(_late(str(cause), server.address, settings), "broken")
        case (
            ValueError()
            | httpx2.DecodingError()
            | httpcore2.RemoteProtocolError()
            | httpcore2.ReadError()
        ):
            broken = ProviderError(
                f"the answer of {server.address} cannot be read: {said}",
                hint="ask again: it was cut off or damaged",
            )
            return _retryable(broken, "broken")
        case _ if isinstance(cause, package.APIError):
            return ProviderError(said)
        case _:
            away = ProviderError(
                f"cannot reach {server.address}: {said}", hint="check `base_url` and the network"
            )
            return _retryable(away, "away")


def _late(reason: str, address: str, settings: Settings) -> ProviderTimeout:
    """Returns the error for an attempt that timed out; its hint names the setting to raise."""
    if reason == SILENT:
        return ProviderTimeout(
            f"{address} sent nothing for {settings.silence:g} s",
            hint="raise `silence`: some models think for minutes before they answer",
        )
    return ProviderTimeout(
        f"{address} did not answer within {settings.timeout:g} s",
        hint="raise `timeout`, or ask for less",
    )


def _of_response(response: httpx2.Response, address: str) -> Exception:
    """Returns the error for a response with an error status."""
    complaint, status = ErrorBody.of(response), response.status_code
    said = f"{shown(address)} answered {status}: {complaint.shown(SHOWN)}"
    wait = _wait_of_headers(response)
    if wait is not None:
        complaint = complaint._replace(wait=wait)
    error = _error_of(complaint, status, said, request_id_of(response))
    if status in _REFUSING and not isinstance(error, Refused) and error.hint != _TOO_LONG_HINT:
        return Rejected(error, complaint.searched)
    if response.headers.get("x-should-retry") == "false":
        return error
    return _as_status(error)


def _retryable(error: E, reason: Literal["busy", "away", "broken"]) -> E:
    """Returns the error, marked as one after which a retry may help."""
    error.another_try, error.stays_away = reason, reason != "broken"
    return error


def _as_status(error: ProviderError | Refused) -> ProviderError | Refused:
    """Returns the error; if its status allows a retry, marks it as retryable."""
    if isinstance(error, Refused) or error.hint in (_TOO_LONG_HINT, _USED_UP_HINT):
        return error
    status = error.status or 0
    if status in _BUSY:
        return _retryable(error, "busy")
    return _retryable(error, "broken") if status in _BROKEN or status >= 500 else error


class ErrorBody(NamedTuple):
    """The body of an error response: its message, its codes, and the seconds that it asks to wait.

    `is_daily` is true for a daily limit, which Google marks in the details.
    """

    words: str
    codes: frozenset[str] = frozenset()
    wait: float | None = None
    is_daily: bool = False

    @classmethod
    def of(cls, response: httpx2.Response) -> ErrorBody:
        """Reads the beginning of a response's body, which need not be JSON."""
        text = response.content[:_LOOKED_THROUGH].decode(errors="replace").strip()
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            return cls.read(text)
        if is_list(body) and body:  # Google sends a list
            body = body[0]
        return cls.read(body.get("error") or body if is_object(body) else body)

    @classmethod
    def read(cls, error: Any) -> ErrorBody:
        """Reads an error object from parsed JSON."""
        data = error if is_object(error) else {}
        words = str(data.get("message") or error or "")
        codes = (data.get(name) for name in ("code", "type", "status", "param"))
        details = list(filter(is_object, data["details"])) if is_list(data.get("details")) else []
        delays = [one["retryDelay"] for one in details if "retryDelay" in one]
        asked = _TRY_AGAIN.search(words.lower())
        told = str(delays[0]) if delays else asked[1] if asked else ""
        parts = [float(number) * _SECONDS[unit] for number, unit in _DURATION.findall(told)]
        return cls(
            words,
            frozenset(str(code) for code in codes if isinstance(code, str | int)),
            round(sum(parts), 3) if parts else None,
            "PerDay" in json.dumps(details),
        )

    @property
    def searched(self) -> str:
        """The message and the codes in lower case, in which patterns are searched."""
        return " ".join([self.shown(), *self.codes]).lower()

    @property
    def is_used_up(self) -> bool:
        """True if the account has no credit left, so that waiting is useless."""
        is_said = not self.codes.isdisjoint(_USED_UP) or _NO_CREDIT.search(self.words.lower())
        return bool(is_said) or (self.is_daily and self.wait is None)

    @property
    def is_too_large(self) -> bool:
        """True if the request is larger than the server ever accepts."""
        words = self.words.lower()
        is_said = _TOO_LARGE.search(words) or _TOO_LONG.search(words)
        return "context_length_exceeded" in self.codes or is_said is not None

    @property
    def is_declined(self) -> bool:
        """True if a filter or a policy declined the prompt itself."""
        return not self.codes.isdisjoint(_DECLINED) or bool(_FILTERED.search(self.words.lower()))

    def shown(self, most: int | None = None) -> str:
        """Returns the message, redacted, escaped and cut to `most` characters."""
        return shown(self.words, most) or "no explanation"


def _error_of(
    complaint: ErrorBody, status: int | None, said: str, request_id: str | None
) -> ProviderError | Refused:
    """Returns the error for an error body.

    `status` is None if the response had a success status and the body names no other status.
    """
    if complaint.is_declined and status in (None, 400, 403):
        words = complaint.shown(SHOWN)
        return Refused(f"the provider declined the prompt: {words}", text=words)
    wait = complaint.wait
    said += "" if wait is None else f"; it asks to wait {wait:g} s"
    about: dict[str, Any] = {"status": status, "request_id": request_id}
    if status in (401, 403):
        hint = "check the key, and `api_key_env`, which names its variable"
        return AuthenticationFailed(said, hint=hint, **about)
    about["hint"] = _hint_of(status, complaint)
    error = RateLimited(said, **about) if status == 429 else ProviderError(said, **about)
    error.retry_after = wait
    return error


def _hint_of(status: int | None, complaint: ErrorBody) -> str | None:
    if status == 413 or (status in (None, 400, 422, 429) and complaint.is_too_large):
        return _TOO_LONG_HINT
    if status == 402 or (status in (None, 429) and complaint.is_used_up):
        return _USED_UP_HINT
    if status == 429:
        return "ask again later, or for less at once"
    if status == 404:
        return "check `model`, `base_url` and `api`"
    if status in (400, 422) and "/v1/responses" in complaint.words.lower():
        return 'set `api` to "responses", and name `reasoning_effort` as an option of the prompt'
    return None


def _wait_of_headers(response: httpx2.Response) -> float | None:
    for name, parts in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(response.headers[name]) / parts)
        except (KeyError, ValueError):
            continue
    try:
        date = email.utils.parsedate_to_datetime(response.headers["retry-after"])
        return max(0.0, round(date.timestamp() - time.time(), 1))
    except (KeyError, OverflowError, ValueError):
        return None


def reported_error(error: Any, request_id: str | None) -> ProviderError | Refused:
    """Returns the error for an error object in a response with a success status."""
    complaint = ErrorBody.read(error)
    status = max(filter(None, map(_status_of, complaint.codes)), default=None)
    said = f"the server reports: {shown(complaint.words, SHOWN)}"
    return _error_of(complaint, status, said, request_id)


def _status_of(code: str) -> int | None:
    """Returns the HTTP status for an error code, or None if the code is unknown.

    A code may itself be an HTTP status.
    """
    return int(code) if re.fullmatch("[45][0-9]{2}", code) else _STATUSES.get(code)


def excerpt(content: bytes) -> str:
    """Returns the beginning of a body, redacted and escaped, for an error message."""
    return shown(content[:_LOOKED_THROUGH].decode(errors="replace"), SHOWN) or "nothing"
