"""Everything that can go wrong at run time, as one tree of exceptions.

    SaftError
    ├── CheckError (also TypeError)             a value is not what its place asks for
    ├── MissingError (also LookupError)         no such field, key or index
    ├── ZeroError (also ZeroDivisionError)      division by zero
    ├── FileError (also OSError)                a file cannot be read or written
    ├── ConfigError (also ValueError)           a setting or an option is wrong or missing
    │   └── JournalInUse                        another run has the journal
    ├── Failed                                  the script itself says so: `fail "no such order"`
    ├── RunStopped                              the run has to stop
    │   ├── BudgetSpent                         the next request would pass a bound
    │   └── JournalError                        what was answered or done cannot be kept
    ├── ProgramError                            a program of the model failed
    └── PromptError                             a prompt got no usable answer
        ├── ContractError                       no reply satisfied the prompt's type
        ├── TruncatedReply                      the reply was cut by the token limit
        ├── Refused                             the model declined to answer
        ├── ToolLimitError                      too many rounds or calls of tools
        └── ProviderError                       the exchange with the provider failed
            ├── ProviderTimeout (also TimeoutError)
            ├── RateLimited
            ├── AuthenticationFailed
            └── ToolsUnsupported                the provider takes no tools

    RunWaiting, a BaseException                 a call waits for approval; nothing has failed
    ReplayMiss, a BaseException                 the recording has no such request

Every one says what was asked, what came, and where it helps one thing to try.
`saft_position` is `"triage.saft:12:5"` for a failed prompt whose source map is known, else None;
`replies` is how many replies a prompt had by then, and `reply` the text of the last one.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

__all__ = [
    "AuthenticationFailed",
    "BudgetSpent",
    "CheckError",
    "ConfigError",
    "ContractError",
    "Failed",
    "FileError",
    "JournalError",
    "JournalInUse",
    "MissingError",
    "ProgramError",
    "PromptError",
    "ProviderError",
    "ProviderTimeout",
    "RateLimited",
    "Refused",
    "ReplayMiss",
    "RunStopped",
    "RunWaiting",
    "SaftError",
    "ToolLimitError",
    "ToolsUnsupported",
    "TruncatedReply",
    "ZeroError",
]

# Control characters except line ends and tabs, and characters that change the writing direction.
_ESCAPED = {
    code: chr(code).encode("unicode_escape").decode("ascii")
    for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
}


def printable(text: str) -> str:
    """Returns the text with control characters and halves of surrogate pairs escaped.

    Messages quote servers, models and files, and a terminal would execute control characters.
    """
    escaped = text.translate(_ESCAPED)
    if escaped.isascii():
        return escaped
    return escaped.encode("utf-8", "backslashreplace").decode("utf-8")


class _WithMessage(BaseException):
    """The base of this package's errors, with message, hint and place.

    `message` says what is wrong, and `hint` says what to try, or is None. `saft_position` is the
    place in the script, or None. `replies` is the number of replies that the prompt got, and
    `reply` is the text of the last reply. Both are None if the error has no prompt.
    """

    saft_position: str | None = None
    replies: int | None = None
    reply: str | None = None

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        if self.hint is None:
            return printable(self.message)
        between = "\n" if "\n" in self.message else "; "
        return printable(self.message + between + self.hint)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickles all attributes, whatever parameters the constructor has.
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(
    kind: type[_WithMessage], arguments: tuple[Any, ...], state: dict[str, Any]
) -> _WithMessage:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error


class SaftError(_WithMessage, Exception):
    """The base of all errors of this package.

    `message` says what is wrong, and `hint` says what to try, or is None. `saft_position` is the
    place in the script, or None. `replies` is the number of replies that the prompt got, and
    `reply` is the text of the last reply. Both are None if the error has no prompt.
    """


class CheckError(SaftError, TypeError):
    """A value does not have the required type.

    `path` leads to the part of the value at fault, as in `value.items[0]`, or is None.
    """

    def __init__(self, message: str, *, path: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class MissingError(SaftError, LookupError):
    """A field, a key or an index does not exist; `name` is the missing name, key or index."""

    def __init__(self, message: str, *, name: object = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.name = name


class ZeroError(SaftError, ZeroDivisionError):
    """The script divided by zero."""


class FileError(SaftError, OSError):
    """A file cannot be read or written; `path` is its full path."""

    def __init__(self, message: str, *, path: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class ConfigError(SaftError, ValueError):
    """A setting or an option is unknown, wrong or missing. `setting` is its name, or None."""

    def __init__(
        self, message: str, *, setting: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.setting = setting


class JournalInUse(ConfigError):
    """Another run, in this process or another process, uses the journal. Nothing was sent."""


class Failed(SaftError):
    """The script executed `fail` with this message."""


class RunStopped(SaftError):
    """The run must stop, including its tools and programs. Models are not told of this error."""


class BudgetSpent(RunStopped):
    """A request was not sent because it would exceed the budget, or the budget cut a reply.

    `text` is the part of a cut reply that arrived.
    """

    text: str = ""


class JournalError(RunStopped):
    """The journal cannot store a reply, or cannot say whether a call was made. See `hint`."""


class RunWaiting(BaseException):
    """A call waits for approval in the journal: the run ends, and resumes after the decision.

    `call` is the call in Saft's notation, and `place` is the place of its prompt in the script.
    This is a BaseException, so that no `except Exception`, tool or program handles it as a failure.
    The process exits with `exit_code`.
    """

    exit_code: ClassVar[int] = 4

    def __init__(self, call: str, place: str | None = None) -> None:
        super().__init__(call, place)
        self.call = call
        self.place = place

    def __str__(self) -> str:
        where = "" if self.place is None else f", at {self.place}"
        return printable(f"{self.call} waits for approval{where}")


class ProgramError(SaftError):
    """No program of the model succeeded. `outcome` is the outcome of the last program.

    `attempts` has a pair (reply text, reason) for each attempt, and `tool_calls` has the calls that
    were made.
    """

    attempts: tuple[tuple[str, str], ...] = ()
    tool_calls: tuple[Any, ...] = ()

    def __init__(self, message: str, *, outcome: object = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.outcome = outcome


class PromptError(SaftError):
    """A prompt got no usable reply. `tool_calls` has the calls that the model made."""

    tool_calls: tuple[Any, ...] = ()


class ContractError(PromptError):
    """No reply had the type that the prompt requires.

    `attempts` has a pair (reply text, reason) for each attempt. If the prompt has several fields,
    `values` maps the names of the fields that arrived to their values.
    """

    def __init__(
        self,
        message: str,
        *,
        attempts: tuple[tuple[str, str], ...] = (),
        values: dict[str, Any] | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.attempts = attempts
        self.values = values if values is not None else {}


class TruncatedReply(PromptError):
    """The token limit cut the reply; `text` is the part that arrived."""

    def __init__(self, message: str, *, text: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.text = text


class Refused(PromptError):
    """The model declined to answer; `text` is its explanation."""

    def __init__(self, message: str, *, text: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.text = text


class ToolLimitError(PromptError):
    """The model used too many rounds or calls of tools; `limit` is the number allowed."""

    def __init__(self, message: str, *, limit: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.limit = limit


class ProviderError(PromptError):
    """The exchange with the provider failed.

    `status` and `request_id` come from the response, or are None. `retry_after` is the time in
    seconds that the provider asks to wait, or None. `stays_away` is true if the server is
    unreachable or overloaded, so that a later attempt may work. `text` is the part of a streamed
    reply that arrived before the failure.
    """

    stays_away: bool = False
    text: str = ""
    retry_after: float | None = None
    # Why a retry may help: the server is overloaded; unreachable; or the exchange broke off.
    another_try: Literal["busy", "away", "broken"] | None = None

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.request_id = request_id


class ProviderTimeout(ProviderError, TimeoutError):
    """The provider did not reply in time."""


class RateLimited(ProviderError):
    """The provider replied with status 429: too many requests."""


class AuthenticationFailed(ProviderError):
    """The provider rejected the API key (status 401 or 403)."""


class ToolsUnsupported(ProviderError):
    """The provider, or its model, does not support tools."""


class ReplayMiss(_WithMessage):
    """The recording has no reply to this request.

    `nearest` is the most similar request in the recording. This is a BaseException, so that no
    `except Exception`, tool or program handles it as a failure of the model. Otherwise a test could
    pass although nothing was replayed.
    """

    def __init__(
        self, message: str, *, nearest: dict[str, Any] | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.nearest = nearest
