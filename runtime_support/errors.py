"""Everything that can go wrong at run time, as one tree of exceptions.

    SaftError
    ├── CheckError (also TypeError)             a value is not what its place asks for
    ├── MissingError (also LookupError)         no such field, key or index
    ├── ZeroError (also ZeroDivisionError)      division by zero
    ├── FileError (also OSError)                a file cannot be read or written
    ├── ConfigError (also ValueError)           a setting or an option is wrong or missing
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
            ├── ToolsUnsupported                the provider takes no tools
            └── ReplayMiss                      the recording has no such request

    RunWaiting, a BaseException                 a call waits for approval; nothing has failed

Every one says what was asked, what came, and where it helps one thing to try.
`saft_position` is `"triage.saft:12:5"` for a failed prompt whose source map is known, else None;
`replies` is how many replies a prompt had by then, and `reply` the text of the last one.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "AuthenticationFailed",
    "BudgetSpent",
    "CheckError",
    "ConfigError",
    "ContractError",
    "Failed",
    "FileError",
    "JournalError",
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

# Control characters but for line ends and tabs, and those that turn the direction of writing.
_ESCAPED = {
    code: chr(code).encode("unicode_escape").decode("ascii")
    for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
}


def printable(text: str) -> str:
    """The text with control characters, and halves of surrogate pairs, written as escapes.

    A message may quote what servers, models and files say; a terminal would obey it.
    """
    escaped = text.translate(_ESCAPED)
    if escaped.isascii():
        return escaped
    return escaped.encode("utf-8", "backslashreplace").decode("utf-8")


class SaftError(Exception):
    """The root of the tree; `hint` is one thing to try, or None."""

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
        # Errors travel between processes with all their data, whatever their constructors take.
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type[SaftError], arguments: tuple[Any, ...], state: dict[str, Any]) -> SaftError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error


class CheckError(SaftError, TypeError):
    """A value is not what its place asks for; `path` is where in the value, when known."""

    def __init__(self, message: str, *, path: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class MissingError(SaftError, LookupError):
    """A field, a key or an index that does not exist; `name` is what was asked for."""

    def __init__(self, message: str, *, name: object = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.name = name


class ZeroError(SaftError, ZeroDivisionError):
    """Division by zero."""


class FileError(SaftError, OSError):
    """A file cannot be read or written; `path` is the resolved path."""

    def __init__(self, message: str, *, path: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class ConfigError(SaftError, ValueError):
    """A setting or an option is unknown, wrong or missing; `setting` names it, when it is one."""

    def __init__(
        self, message: str, *, setting: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.setting = setting


class Failed(SaftError):
    """The script itself has failed, with this message."""


class RunStopped(SaftError):
    """The run has to stop: tools and programs end, and the model does not hear of it."""


class BudgetSpent(RunStopped):
    """The next request would pass the budget; nothing of it was sent."""


class JournalError(RunStopped):
    """What was answered cannot be kept, or it is unknown whether a call was made; see `hint`."""


class RunWaiting(BaseException):
    """A call waits for approval and the journal has it: the run ends, and goes on when it has one.

    `call` is the call in Saft's notation, `place` that of its prompt. It is no `Exception`, as
    nothing has gone wrong that `except`, a tool or a program could deal with. A process that it
    ends exits with `exit_code`.
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
    """No program of the model could be run to its end; `outcome` is what the last one came to.

    `attempts` holds a pair (reply text, reason) for each try, `tool_calls` the calls that were made
    until then.
    """

    attempts: tuple[tuple[str, str], ...] = ()
    tool_calls: tuple[Any, ...] = ()

    def __init__(self, message: str, *, outcome: object = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.outcome = outcome


class PromptError(SaftError):
    """A prompt got no usable answer; `tool_calls` holds the calls that were made until then."""

    tool_calls: tuple[Any, ...] = ()


class ContractError(PromptError):
    """No reply satisfied the prompt's type.

    `attempts` holds a pair (reply text, reason) for each try; `values` the destructured fields
    that did arrive.
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
    """The reply was cut by the token limit; `text` is what came."""

    def __init__(self, message: str, *, text: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.text = text


class Refused(PromptError):
    """The model declined to answer; `text` is its explanation."""

    def __init__(self, message: str, *, text: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.text = text


class ToolLimitError(PromptError):
    """The model asked for more rounds or calls of tools than allowed; `limit` is the bound."""

    def __init__(self, message: str, *, limit: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.limit = limit


class ProviderError(PromptError):
    """The exchange with the provider failed; `status` and `request_id` as far as it got.

    `stays_away` says that there was no server, or one that had too much to do: it may answer later.
    `text` is what had come of a reply that was streamed.
    """

    stays_away: bool = False
    text: str = ""

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
    """The provider did not answer in time."""


class RateLimited(ProviderError):
    """The provider answered 429; `retry_after` is in seconds, when it said so."""

    retry_after: float | None = None


class AuthenticationFailed(ProviderError):
    """The provider refused the key (401, 403)."""


class ToolsUnsupported(ProviderError):
    """The provider, or the model it serves, takes no tools at all."""


class ReplayMiss(ProviderError):
    """The recording holds no answer to this request; `nearest` is its most similar request."""

    def __init__(
        self, message: str, *, nearest: dict[str, Any] | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.nearest = nearest
