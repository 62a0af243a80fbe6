"""The machine that makes the calls of one evaluation: counted, permitted, checked, recorded.

Everything that a program does passes through `Machine.call`, and nothing else calls a function.
What stops a part is a `Stopped` with all the problems of the parts that were evaluated side by
side: a failure outranks an ambiguity, and independent ambiguities are reported together.

Each evaluation runs in a thread of its own with an event loop of its own (`run_within`), so that
it may be started from anywhere (also from inside a running loop), functions may be async, and a
function that never returns cannot hold the caller. Context variables are those of the caller.
"""

from __future__ import annotations

import inspect
import itertools
import time
import traceback
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from runtime_support._ambiguity import Ambiguity, ambiguous
from runtime_support._effects import (
    begin_thread,
    call_inside,
    in_thread,
    maybe_await,
    outcome_value,
)
from runtime_support._events import Watched, begin_function, end_function
from runtime_support._jsontext import parse, to_json
from runtime_support._order import Cancelled, is_abandoned, is_beside
from runtime_support._schema.checking import decode
from runtime_support._values import is_list, is_object, is_tuple
from runtime_support.errors import (
    CheckError,
    ConfigError,
    JournalError,
    ProviderError,
    ReplayMiss,
    RunStopped,
    RunWaiting,
)
from runtime_support.programs._outcomes import Call, ProgramFailureKind, as_sentence
from runtime_support.programs._registry import Definition
from runtime_support.programs._syntax import Limits, Path, pointer
from runtime_support.programs._types import Type, TypeMismatch, conform, kind_name, type_notation
from runtime_support.programs._writing import ExpressionPlace, SerializationError
from runtime_support.runs._places import scope_here, within

if TYPE_CHECKING:
    from asyncio import Semaphore

Position = tuple[int, ...]
"""Where in source order, elements of a `$map` included: compares as the program would run."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where evaluation is: the variables in scope, the position, and whether that is in a `$map`.

    `beside` is true when other parts are evaluated at the same time.
    """

    names: Mapping[str, Any]
    position: Position = ()
    in_map: bool = False
    beside: bool = False

    def at(self, index: int) -> Frame:
        return replace(self, position=(*self.position, index))

    def bound(self, names: Mapping[str, Any]) -> Frame:
        return replace(self, names={**self.names, **names})

    def side_by_side(self) -> Frame:
        return replace(self, beside=True)


@dataclass(frozen=True, slots=True)
class Choice:
    """A sentence, and the expression (as JSON data) that would go to the place."""

    sentence: str
    place: ExpressionPlace
    new: Any


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong."""

    position: Position
    path: Path
    kind: ProgramFailureKind
    message: str


@dataclass(frozen=True, slots=True)
class Unclear:
    position: Position
    path: Path
    message: str
    choices: tuple[Choice, ...]


Problem = Fault | Unclear


class Stopped(Exception):
    """Evaluation of a part cannot go on."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems)
        self.problems = problems


# The end of the process or of the run; a prompt that was cancelled, or whose provider failed.
_ENDING = (
    *(KeyboardInterrupt, SystemExit, Cancelled, RunStopped, RunWaiting, ReplayMiss),
    *(ProviderError, ConfigError),
)
_CONTAINER = 64  # bytes that a list or an object takes in memory, at least
_SHORT = {float, bool, type(None)}

OnCall = Callable[[str, dict[str, Any]], bool]


class CallRecord(Protocol):
    """What a journal has of a call: how it ended before, or else its beginning and its end now."""

    def ended(self) -> Mapping[str, Any] | None: ...

    def begin(self) -> None: ...

    def leave(self) -> None: ...

    def end(self, outcome: dict[str, Any]) -> None: ...


Keep = Callable[[Position, str, dict[str, Any], bool], CallRecord | None]


class Halted(BaseException):
    """The evaluation is over, in time or not, or left: nothing more may be called."""


class Machine:
    """State of one evaluation. `earlier` are calls made for the same request before: they are not
    made again, and the limit of calls is that of all together.

    `keep` gives what a journal has of calls with effects. What waits for approval is denied unless
    the program `is_approved`.
    """

    def __init__(
        self,
        limits: Limits,
        on_call: OnCall | None = None,
        earlier: Sequence[Call] = (),
        keep: Keep | None = None,
        *,
        is_approved: bool = False,
    ) -> None:
        self._is_approved = is_approved
        self.stopped = False
        self.abort: BaseException | None = None
        self._limits = limits
        self._on_call = on_call
        self._keep = keep
        functions = [call for call in earlier if call.kind != "type"]
        self._earlier = [call for call in functions if call.error is None]
        self._made_for_all = sum(not call.reused for call in functions)
        self._calls: list[tuple[Position, Call]] = []
        self._made = 0
        self._walked = 0
        self._places: Semaphore | None = None
        self._most: int | None = None
        self._failed_at: Position | None = None

    @property
    def most(self) -> int:
        """How many calls may run side by side."""
        if self._most is None:
            self._most = _most_at_once()
        return self._most

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that ended, in source order."""
        return tuple(call for _, call in sorted(self._calls, key=lambda pair: pair[0]))

    def walk(self, items: int, path: Path, frame: Frame) -> None:
        """Counts the items that a `$map` goes over."""
        self._walked += items
        if self._walked > self._limits.items:
            raise self.failed("limit", f"more than {self._limits.items} items", path, frame)

    def bounded(self, value: Any, what: str, path: Path, frame: Frame) -> Any:
        """The value, unless it is larger than a value may be."""
        most = self._limits.value_bytes
        if is_larger(value, most, _CONTAINER):
            raise self.failed("limit", f"{what} more than {most} bytes", path, frame)
        return value

    def failed(self, kind: ProgramFailureKind, message: str, path: Path, frame: Frame) -> Stopped:
        return Stopped(Fault(frame.position, path, kind, message))

    def unclear(
        self,
        message: str,
        sentences: Sequence[str],
        choice: Callable[[int], Choice],
        path: Path,
        frame: Frame,
    ) -> Stopped:
        """The choices, each written by `choice`; told in words when they cannot be, or are meant
        for one element of a `$map`.
        """
        told = f"{as_sentence(message)} The choices are: {'; '.join(sentences)}"
        if frame.in_map:
            return Stopped(Unclear(frame.position, path, told, ()))
        try:
            written = tuple(map(choice, range(len(sentences))))
        except SerializationError as error:
            told = f"{told}; they cannot be written as programs: {error}"
            return Stopped(Unclear(frame.position, path, told, ()))
        return Stopped(Unclear(frame.position, path, message, written))

    async def call(
        self, definition: Definition, arguments: dict[str, Any], path: Path, frame: Frame
    ) -> Any:
        """What the callable returns, as its declared type; raises Stopped or Ambiguity."""
        if not frame.beside or definition.kind == "type":
            return await self._call(definition, arguments, path, frame)
        from asyncio import Semaphore

        if self._places is None:
            self._places = Semaphore(self.most)
        async with self._places:
            token = is_beside.set(True)
            try:
                return await self._call(definition, arguments, path, frame)
            finally:
                is_beside.reset(token)

    def note_failures(self, stopped: Stopped) -> None:
        """What comes after a failure is not called any more."""
        for one in stopped.problems:
            if isinstance(one, Fault) and not self._is_after_failure(one.position):
                self._failed_at = one.position

    def _is_after_failure(self, position: Position) -> bool:
        return self._failed_at is not None and position > self._failed_at

    async def _call(
        self, definition: Definition, arguments: dict[str, Any], path: Path, frame: Frame
    ) -> Any:
        if self.stopped or is_abandoned():
            raise Halted
        if self._is_after_failure(frame.position):
            raise Stopped
        if self._made >= self._limits.calls:
            raise self.failed("limit", f"more than {self._limits.calls} calls", path, frame)
        if definition.waits and not self._is_approved:
            message = f"{definition.name} waits for approval, and the program has none"
            raise self.failed("denied", message, path, frame)
        earlier = self._take_earlier(definition, arguments)
        if earlier is None and definition.kind != "type":
            if self._made_for_all >= self._limits.calls:
                most = f"more than {self._limits.calls} calls, with those of earlier programs"
                raise self.failed("limit", most, path, frame)
            self._made_for_all += 1
        self._made += 1
        if earlier is not None:
            self._record(definition, arguments, path, frame, result=earlier.result, reused=True)
            return earlier.result
        kept = None
        if self._keep is not None and not definition.pure:
            kept = self._keep(frame.position, definition.name, arguments, definition.waits)
        ended = None if kept is None else kept.ended()
        told = _told(ended, definition.result)
        if told is None and ended is not None and definition.waits:
            raise JournalError(
                f"{definition.name} was approved and has ended, and its result cannot be taken "
                "from the journal: it is not called again",
                hint="give a result that JSON holds, and begin another journal",
            )
        if told is None:
            self._permit(definition.name, arguments, path, frame)
            if kept is not None:
                kept.begin()
        started = time.perf_counter()
        watched = begin_function(definition.name, definition.kind, frame.position)
        result: Any = None
        message: str | None = None
        kind: ProgramFailureKind = "error"
        try:
            if told is None:
                result = await self._apply(definition, arguments, frame, watched)
            else:
                result, message, kind = told
        except Ambiguity as ambiguity:
            message = str(ambiguity)
            if kept is not None:
                kept.end({"result": None, "error": None})
            raise
        except BaseException as error:
            message = f"{definition.name}: {describe_error(error)}"
            if self.stopped:
                raise
            if isinstance(error, _ENDING):
                self.abort = error
            if isinstance(error, RunWaiting) and kept is not None:
                kept.leave()
        else:
            try:
                result = result if told is not None else conform(result, definition.result)
            except TypeMismatch as error:
                kind, message = "bad_result", _bad_result(definition, result, error)
                result = None
        finally:
            seconds = round(time.perf_counter() - started, 6)
            if ended is not None and told is not None:
                seconds = ended["ms"] / 1000
            more = {"result": result, "error": message, "seconds": seconds}
            end_function(watched, self._record(definition, arguments, path, frame, **more))
        if kept is not None and told is None and self.abort is None:
            text = None if message is not None else _kept_text(result, definition.result)
            took = {"ms": round(seconds * 1000, 3)}
            kept.end({"result": text, "error": message, "kind": kind, **took})
        if message is not None:
            raise self.failed(kind, message, path, frame)
        if definition.kind == "type":
            return result  # no more than its arguments
        return self.bounded(result, f"{definition.name} returned", path, frame)

    async def _apply(
        self,
        definition: Definition,
        arguments: dict[str, Any],
        frame: Frame,
        watched: Watched | None,
    ) -> Any:
        # A journal keeps apart what is asked at the same time.
        scope = scope_here().part("p" + ".".join(map(str, frame.position)))
        apply = partial(call_inside, partial(within, scope), partial(definition.apply, arguments))
        if watched is not None:
            apply = partial(call_inside, watched.inside, apply)
        may_leave = definition.pure and frame.beside
        if may_leave and not inspect.iscoroutinefunction(definition.function):
            return await in_thread(apply)
        return await maybe_await(apply())

    def _permit(self, name: str, arguments: dict[str, Any], path: Path, frame: Frame) -> None:
        if self._on_call is None:
            return
        reason = ""
        try:
            allowed = self._on_call(name, dict(arguments))
        except Exception as error:
            allowed, reason = False, f": {describe_error(error)}"
        if not allowed:
            raise self.failed("denied", f"{name} was denied{reason}", path, frame)

    def _take_earlier(self, definition: Definition, arguments: Mapping[str, Any]) -> Call | None:
        """An equal call that was made before: one that has effects stands for one call alone."""
        for index, call in enumerate(self._earlier):
            if call.name == definition.name and _equal(call.arguments, arguments):
                return call if definition.pure else self._earlier.pop(index)
        return None

    def _record(
        self,
        definition: Definition,
        arguments: dict[str, Any],
        path: Path,
        frame: Frame,
        **more: Any,
    ) -> Call:
        call = Call(
            definition.name, arguments, pointer(path), definition.kind, definition.pure, **more
        )
        self._calls.append((frame.position, call))
        return call


def _most_at_once() -> int:
    """How many calls may run side by side here: `max_in_flight`, of all that are called so.

    Inside of one of them, and where answers come in order, it is one after the other.
    """
    from runtime_support._settings import settings_for

    try:
        settings = settings_for()
    except ConfigError:
        return 1  # the first prompt says what is wrong
    if is_beside.get() or getattr(settings.provider, "answers_in_order", False):
        return 1
    return settings.max_in_flight


def describe_error(error: BaseException) -> str:
    """`Class: message`, whatever the exception's own text does."""
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _bad_result(definition: Definition, result: Any, error: TypeMismatch) -> str:
    message = (
        f"{definition.name} should return {type_notation(definition.result)} "
        f"but returned {kind_name(result)}"
    )
    return message if str(error).startswith("expected") else f"{message}: {error}"


def _kept_text(result: Any, type_: Type) -> str | None:
    """The result as JSON, when what it was can be made of that again."""
    try:
        text = to_json(result)
        return text if _equal(decode(parse(text), type_), result) else None
    except CheckError:
        return None


def _told(
    kept: Mapping[str, Any] | None, type_: Type
) -> tuple[Any, str | None, ProgramFailureKind] | None:
    """The result of a call that has ended before, or why it failed; None when it is made again."""
    if kept is None:
        return None
    if kept["error"] is not None:
        return None, kept["error"], kept["kind"]
    if kept["result"] is None:
        return None
    try:
        return decode(parse(kept["result"]), type_), None, "error"
    except CheckError:  # the function has another type now
        return None


def _equal(left: Any, right: Any) -> bool:
    try:
        return bool(left == right)
    except Exception:  # values that do not compare are never taken for equal
        return False


T = TypeVar("T")


class TimeUp(Exception):
    """The work was not over in time; what is still running has been told to stop."""


def run_within(seconds: float, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What the coroutine returns or raises; raises TimeUp after the seconds."""
    import asyncio
    from concurrent.futures import wait

    loop = asyncio.new_event_loop()

    def run() -> T:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(work())

    def cancel_all() -> None:
        for task in asyncio.all_tasks(loop):
            task.cancel()

    future = begin_thread(run, "saft program", copy_context())
    try:
        done, _ = wait([future], seconds)
    finally:
        if not future.done():
            with suppress(RuntimeError):  # the loop was closed in between
                loop.call_soon_threadsafe(cancel_all)
    if not done:
        raise TimeUp
    return outcome_value(future.result())


def run_now(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that never has to wait."""
    try:
        work.send(None)
    except StopIteration as result:
        return result.value
    raise RuntimeError("the work had to wait")


def is_larger(value: Any, most: int, container: int = 0) -> bool:
    """Whether the value as JSON text would have more bytes; stops at the first too many.

    Each list, object and record counts `container` bytes more: what it takes in memory.
    """
    size = 0
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            size += len(one) + 2 if one.isascii() else len(one.encode("utf-8", "surrogatepass")) + 2
        elif isinstance(one, bytes | bytearray):
            size += len(one)
        elif isinstance(one, int):
            size += one.bit_length() // 3 + 1
        elif is_list(one) or is_tuple(one):
            size += len(one) + 1 + container
            kinds = set(map(type, one))
            if kinds == {int}:  # a long list, mostly: without a look at each
                size += sum(map(int.bit_length, one)) // 3 + len(one)
            elif kinds <= _SHORT:
                size += 4 * len(one)
            elif size <= most:
                pending.extend(one)
        elif is_object(one):
            pending.extend(one.values())
            size += sum(len(str(key)) + 4 for key in one) + container
        elif hasattr(one, "__dataclass_fields__") and not isinstance(one, type):
            pending.extend(getattr(one, name, None) for name in one.__dataclass_fields__)
            size += len(type(one).__name__) + container
        else:
            size += 4
        if size > most:
            return True
    return False


def is_from_within(ambiguity: Ambiguity) -> bool:
    """Whether it was raised by something that the function of the program has called."""
    names = [
        str(frame.f_globals.get("__name__")).partition(".")[0]
        for frame, _ in traceback.walk_tb(ambiguity.__traceback__)
        if frame.f_code is not ambiguous.__code__
    ]
    own = ("runtime_support", "asyncio", "concurrent", "threading")
    return len(list(itertools.dropwhile(lambda name: name in own, names))) > 1
