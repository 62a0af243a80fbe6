"""Converts caught exceptions to the errors that an `except` block of a script gets.

    except Exception as exception:
        error = failure(exception)      error.kind, error.message, error.text, error.attempts
        raise error.exception           raises it again, from anywhere

An exception from imported Python code is an error of the kind "python", and its message begins with
the exception's class. An error of the script itself has another kind, whatever exception Python
raises.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from runtime_support import errors
from runtime_support.errors import SaftError, printable

if TYPE_CHECKING:
    from types import FrameType, TracebackType

FailureKind: TypeAlias = Literal[
    "contract",
    "truncated",
    "refused",
    "tool_limit",
    "timeout",
    "rate_limited",
    "authentication",
    "provider",
    "program",
    "budget",
    "check",
    "file",
    "config",
    "failed",
    "python",
]
KINDS: tuple[str, ...] = get_args(FailureKind)

# A class includes its subclasses, except those that are listed above it.
_KINDS: tuple[tuple[type[SaftError], FailureKind], ...] = (
    (errors.ContractError, "contract"),
    (errors.TruncatedReply, "truncated"),
    (errors.Refused, "refused"),
    (errors.ToolLimitError, "tool_limit"),
    (errors.ProviderTimeout, "timeout"),
    (errors.RateLimited, "rate_limited"),
    (errors.AuthenticationFailed, "authentication"),
    (errors.PromptError, "provider"),
    (errors.BudgetSpent, "budget"),
    (errors.ProgramError, "program"),
    (errors.FileError, "file"),
    (errors.JournalError, "file"),
    (errors.ConfigError, "config"),
    (errors.Failed, "failed"),
    (SaftError, "check"),
)

_OURS = __name__.partition(".")[0]
_HEADER = "# Compiled by saftc from "


@dataclass(frozen=True)
class Failure:
    """A caught error, as a script sees it.

    `text` is the model's last reply, or None if there was none; `attempts` is the number of
    replies. `exception` is the exception that was caught, with its traceback.
    """

    message: str
    kind: FailureKind
    text: str | None = None
    attempts: int = 0

    @property
    def exception(self) -> Exception:
        """The exception to raise in order to pass the error on."""
        # Not a field, as it is not compared, shown or sent to a model.
        return self.__dict__.get("_exception") or errors.Failed(self.message)

    def __reduce__(self) -> tuple[Any, ...]:
        # A class of another package may be missing, or not be restorable from its arguments.
        kept = self.__dict__.get("_exception")
        travels = isinstance(kept, SaftError) or type(kept).__module__ == builtins.__name__
        values = (self.message, self.kind, self.text, self.attempts)
        return _made, (*values, kept if travels else None)


def failure(exception: Exception) -> Failure:
    """Returns the error that a script gets for this exception.

    Call it where the exception is caught.
    """
    if isinstance(exception, SaftError):
        kind: FailureKind = next(kind for class_, kind in _KINDS if isinstance(exception, class_))
        message, replies = printable(exception.message), exception.replies or 0
        return _made(message, kind, exception.reply, replies, exception)
    from runtime_support._values.ambiguity import Ambiguity

    if isinstance(exception, Ambiguity):
        return _made(printable(str(exception)), "failed", None, 0, exception)
    if _is_of_script(exception):
        return _made(printable(error_words(exception)), "check", None, 0, exception)
    name, text = type(exception).__name__, str(exception)
    message = f"{name}: {text}" if text else name
    return _made(printable(message), "python", None, 0, exception)


def error_words(error: BaseException) -> str:
    """Returns the message of one of Python's own exceptions.

    Replaces messages that say too little, such as that of a KeyError, which is only the key.
    """
    match error:
        case KeyError() if type(error) is KeyError and len(error.args) == 1:
            from runtime_support._values.dates import word_of
            from runtime_support._values.kinds import literal, quote

            (key,) = error.args
            return f"missing key {quote(str(key)) if word_of(key) is None else literal(key)}"
        case RecursionError():
            return "calls nested too deep: does a function call itself for ever?"
        case AssertionError():
            return str(error) or "assertion failed"
        case ArithmeticError() if type(error).__module__ == "decimal":
            return _words_of_decimals(error)
        case _:
            return str(error) or type(error).__name__


def _words_of_decimals(error: ArithmeticError) -> str:
    """Returns a message for an error with decimals, because Python's message only names classes."""
    signals = {signal.__name__ for signal in error.args[0]} if error.args else set[str]()
    if signals & {"DivisionByZero", "DivisionUndefined"}:
        return "division by zero"
    return "the decimal is too large" if "Overflow" in signals else "there is no such decimal"


def _made(
    message: str, kind: FailureKind, text: str | None, attempts: int, exception: Exception | None
) -> Failure:
    made = Failure(message, kind, text, attempts)
    made.__dict__["_exception"] = exception
    return made


# The origin of errors that are not ours


def _is_of_script(exception: Exception) -> bool:
    """True if an operation of a compiled script, not imported Python code, raised the exception."""
    if isinstance(exception, RecursionError | MemoryError):
        return True
    trace = exception.__traceback__
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    return is_compiled(frame.f_code, frame.f_globals) and not _calls_python(trace, frame)


def is_compiled(code: CodeType, variables: dict[str, Any]) -> bool:
    """True if this code, whose module has these variables, was compiled from a script."""
    import linecache

    first = linecache.getline(code.co_filename, 1, variables)
    return "__saft_source_map__" in variables or first.startswith(_HEADER)


def _calls_python(trace: TracebackType, frame: FrameType) -> bool:
    """True if the exception was raised in a call of a function that the script has imported."""
    import ast

    from runtime_support._core.positions.uncaught import text_of_step

    try:
        node = ast.parse(f"({text_of_step(trace)})", mode="eval").body
    except (SyntaxError, ValueError):
        return False
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name):
        return False
    value = frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] != _OURS
    home = getattr(value, "__module__", None) or type(value).__module__
    own = (builtins.__name__, frame.f_globals.get("__name__"))
    return value is not None and home not in own and home.partition(".")[0] != _OURS
