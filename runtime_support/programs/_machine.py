"""Makes the calls of one evaluation: counts, permits, checks and records them.

Every call of a program passes through `Machine.call`; no other code calls a function. A part that
cannot continue raises `Stopped`, with the problems of all parts that were evaluated in parallel. A
failure outranks an ambiguity; independent ambiguities are reported together.

Each evaluation runs in its own thread with its own event loop (`run_within`). So it can be started
anywhere (even inside a running loop), functions may be async, and a function that never returns
cannot block the caller. Context variables are those of the caller.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from runtime_support._core.hooks import RequestedCall, wrap_with_hooks
from runtime_support._core.scopes import current_scope, within
from runtime_support._core.tasks.loops import (
    begin_thread,
    call_inside,
    finish_async,
    in_thread,
    maybe_await,
    outcome_value,
)
from runtime_support._core.tasks.turns import Cancelled, is_abandoned, runs_in_parallel
from runtime_support._core.tasks.waits import Steps, Wait, drive
from runtime_support._schema.checking import decode
from runtime_support._values.ambiguity import Ambiguity
from runtime_support._values.context import Block
from runtime_support._values.json_text import parse, to_json
from runtime_support._values.kinds import is_list, is_object, is_tuple
from runtime_support.errors import (
    CheckError,
    ConfigError,
    JournalError,
    ProviderError,
    ReplayMiss,
    RunStopped,
    RunWaiting,
)
from runtime_support.programs._outcomes import Call, Point, ProgramFailureKind
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._syntax import Limits, Path, pointer
from runtime_support.programs._types import TypeMismatch, conform, kind_name, type_notation
from runtime_support.programs._writing import ProgramCall, described, is_equal

if TYPE_CHECKING:
    from asyncio import Semaphore

Position = tuple[int, ...]
"""Where in source order, elements of a `$map` included: compares as the program would run."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The state at a point of the evaluation: the variables in scope and the position.

    `in_words` is true in a `$map`: choices are described in words there, as no program could
    express them. `beside` is true if other parts are evaluated at the same time.
    """

    names: Mapping[str, Any]
    position: Position = ()
    in_words: bool = False
    beside: bool = False

    def at(self, index: int) -> Frame:
        """Returns the frame of a part, at this index of the position."""
        return replace(self, position=(*self.position, index))

    def bound(self, names: Mapping[str, Any]) -> Frame:
        """Returns the frame with further names and their values."""
        return replace(self, names={**self.names, **names})


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure: where it happened, its kind and its message."""

    position: Position
    path: Path
    kind: ProgramFailureKind
    message: str


@dataclass(frozen=True, slots=True)
class AmbiguousPlace:
    """A place of the program that is ambiguous."""

    position: Position
    path: Path
    point: Point


Problem = Fault | AmbiguousPlace


class Stopped(Exception):
    """The evaluation of a part cannot continue; `problems` are the reasons."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems)
        self.problems = problems


# These end the process or the run, cancel the prompt, or say that the provider failed.
_ENDING = (
    *(KeyboardInterrupt, SystemExit, Cancelled, RunStopped, RunWaiting, ReplayMiss),
    *(ProviderError, ConfigError),
)
_CONTAINER = 64  # the fewest bytes that a list or an object takes in memory
_SHORT = {float, bool, type(None)}

OnCall = Callable[[str, dict[str, Any]], bool]


class Halted(BaseException):
    """The evaluation has ended, timed out or been abandoned: no more calls may be made."""


class Machine:
    """Makes and records the calls of one evaluation.

    `earlier` are the calls that earlier programs made for the same request. They count against the
    limit of calls, and a call that equals one of them is not made again. `program` is the call by
    which a prompt or a script runs the program, or None. The hooks of `program` wrap each call. A
    function that needs approval is denied unless `program` was approved.
    """

    def __init__(
        self,
        limits: Limits,
        registry: Registry,
        on_call: OnCall | None = None,
        earlier: Sequence[Call] = (),
        program: RequestedCall | None = None,
    ) -> None:
        self._program = program
        self.stopped = False
        self.abort: BaseException | None = None
        self._limits = limits
        self.registry = registry
        self._on_call = on_call
        functions = [call for call in earlier if call.kind != "type"]
        self._earlier = [call for call in functions if call.error is None]
        self._made_before = sum(not call.reused for call in functions)
        self._calls: list[tuple[Position, Call]] = []
        self._undecided: list[_FunctionCall] = []
        self._made = 0
        self._walked = 0
        self._places: Semaphore | None = None
        # The positions of the first failure, and of the first ambiguous place.
        self._first: dict[type[Problem], Position] = {}

    @cached_property
    def most(self) -> int:
        """The number of calls that may run in parallel."""
        return _most_at_once()

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that have ended, in source order."""
        return tuple(call for _, call in sorted(self._calls, key=lambda pair: pair[0]))

    def walk(self, items: int, path: Path, frame: Frame) -> None:
        """Counts the elements of a `$map`. Raises Stopped if all maps together have too many."""
        self._walked += items
        if self._walked > self._limits.items:
            raise self.failed("limit", f"more than {self._limits.items} items", path, frame)

    def bounded(self, value: Any, what: str, path: Path, frame: Frame) -> Any:
        """Returns the value. Raises Stopped if the value is larger than the limit `value_bytes`."""
        most = self._limits.value_bytes
        if is_larger(value, most, _CONTAINER):
            raise self.failed("limit", f"{what} more than {most} bytes", path, frame)
        return value

    def failed(self, kind: ProgramFailureKind, message: str, path: Path, frame: Frame) -> Stopped:
        """Returns the exception of a failure in this frame."""
        return Stopped(Fault(frame.position, path, kind, message))

    def note_problems(self, stopped: Stopped) -> None:
        """Records the positions of the first failure and of the first ambiguity.

        After the position of a failure, no more calls are made. After the position of an ambiguity,
        functions with side effects are not called.
        """
        for one in stopped.problems:
            first = self._first.get(type(one), one.position)
            self._first[type(one)] = min(first, one.position)

    def _is_behind(self, kind: type[Problem], frame: Frame) -> bool:
        return kind in self._first and frame.position > self._first[kind]

    async def call(
        self, definition: Definition, arguments: dict[str, Any], path: Path, frame: Frame
    ) -> Any:
        """Calls the callable. Returns its result as a value of the declared type.

        Raises Stopped if the call is not allowed or fails, and Ambiguity if the callable raises it.
        """
        if not frame.beside or definition.kind == "type":
            return await self._call(_FunctionCall(self, definition, arguments, path, frame))
        from asyncio import Semaphore

        if self._places is None:
            self._places = Semaphore(self.most)
        async with self._places:
            with Block(is_beside=True):
                return await self._call(_FunctionCall(self, definition, arguments, path, frame))

    async def _call(self, call: _FunctionCall) -> Any:
        definition, path, frame = call.definition, call.path, call.frame
        self._check_may_go_on(call)
        earlier = self._counted(call)
        if earlier is not None:
            call.value = earlier.result
            call.end(is_reused=True)
            return earlier.result
        self._permit(call)
        try:
            await finish_async(drive(call.making(self._program), _perform))
        except _ENDING as error:
            if self.stopped:
                raise
            self.abort = error
            raise self.failed("error", describe_error(error), path, frame) from None
        if call.ambiguity is not None:
            self._undecided.append(call)
            raise call.ambiguity
        if call.error is not None:
            raise self.failed(call.kind, call.error, path, frame)
        if definition.kind == "type":
            return call.value  # not larger than its arguments
        return self.bounded(call.value, f"{definition.name} returned", path, frame)

    def _check_may_go_on(self, call: _FunctionCall) -> None:
        """Raises an exception if the call must not be made.

        Raises Halted if the evaluation has ended. Raises Stopped or Ambiguity if an earlier problem
        rules the call out.
        """
        if self.stopped or is_abandoned():
            raise Halted
        if self._is_behind(Fault, call.frame):
            raise Stopped
        if self._is_behind(AmbiguousPlace, call.frame):
            for other in self._undecided:
                if other.ambiguity is not None and other.is_of(call.definition, call.arguments):
                    raise other.ambiguity  # an equal call would be ambiguous, too
            if call.definition.kind == "function" and not call.definition.pure:
                raise Stopped

    def _counted(self, call: _FunctionCall) -> Call | None:
        """Returns an earlier call that equals this call. If there is none, counts the call.

        Returns None for a counted call. Raises Stopped if there are too many calls, or if the call
        needs an approval that was not given.
        """
        definition, path, frame = call.definition, call.path, call.frame
        if definition.waits and (self._program is None or self._program.approval is None):
            message = f"{definition.name} waits for approval, and the program has none"
            raise self.failed("denied", message, path, frame)
        earlier, most = self._take_earlier(definition, call.arguments), self._limits.calls
        if earlier is None and self._made_before + self._made >= most:
            before = ", with those of earlier programs" if self._made_before else ""
            raise self.failed("limit", f"more than {most} calls{before}", path, frame)
        self._made += earlier is None
        return earlier

    def _permit(self, call: _FunctionCall) -> None:
        if self._on_call is None:
            return
        reason = ""
        try:
            allowed = self._on_call(call.definition.name, dict(call.arguments))
        except Exception as error:
            allowed, reason = False, f": {describe_error(error)}"
        if not allowed:
            message = f"{call.definition.name} was denied{reason}"
            raise self.failed("denied", message, call.path, call.frame)

    def _take_earlier(self, definition: Definition, arguments: Mapping[str, Any]) -> Call | None:
        """Returns an earlier call of the same callable with equal arguments, or None.

        A call with side effects is returned only once.
        """
        for index, call in enumerate(self._earlier):
            if call.name == definition.name and is_equal(call.arguments, arguments):
                return call if definition.pure else self._earlier.pop(index)
        return None

    def record(self, call: Call, frame: Frame) -> None:
        """Records a call that has ended."""
        self._calls.append((frame.position, call))


@dataclass(slots=True, eq=False)
class _FunctionCall:
    """A call of a function and its outcome, which is new or taken from a journal."""

    machine: Machine
    definition: Definition
    arguments: dict[str, Any]
    path: Path
    frame: Frame
    value: Any = None
    error: str | None = None
    kind: ProgramFailureKind = "error"
    ambiguity: Ambiguity | None = None

    def is_of(self, definition: Definition, arguments: Mapping[str, Any]) -> bool:
        """True if the call has this definition and equal arguments."""
        return self.definition is definition and is_equal(self.arguments, arguments)

    def end(self, seconds: float = 0.0, *, is_reused: bool = False) -> Call:
        """Records that the call has ended. Returns the recorded `Call`."""
        one = self.definition
        call = Call(
            *(one.name, self.arguments, pointer(self.path), one.kind, one.pure, self.value),
            error=self.error,
            seconds=seconds,
            reused=is_reused,
        )
        self.machine.record(call, self.frame)
        return call

    def making(self, program: RequestedCall | None) -> Steps[Any]:
        """Makes the call. If a prompt or a script runs the program, its hooks wrap the call."""
        definition = self.definition
        if program is None or definition.kind == "type":
            return self._make(None)
        call = RequestedCall(
            *(definition.name, _sent(self.arguments), "function", program.prompt, program.number),
            position=self.frame.position,
            is_pure=definition.pure,
            is_approved=definition.waits,
            codec=self,
        )
        return wrap_with_hooks(program.hooks, "tool_call", self._make)(call)

    def _make(self, call: RequestedCall | None) -> Steps[ProgramCall]:
        started = time.perf_counter()
        apply = partial(self._apply, call)
        try:
            yield Wait(lambda: run_now(apply()), apply)
        finally:
            seconds = round(time.perf_counter() - started, 6)
            ended = self.end(seconds)
        return described(ended, self.machine.registry)

    async def _apply(self, call: RequestedCall | None) -> None:
        definition, result = self.definition, None
        try:
            result = await self._result(call)
            self.value = conform(result, definition.result)
        except TypeMismatch as mismatch:
            self.kind, self.error = "bad_result", _bad_result(definition, result, mismatch)
        except Ambiguity as ambiguity:
            self.ambiguity, self.error = ambiguity, str(ambiguity)
        except BaseException as error:
            self.error = f"{definition.name}: {describe_error(error)}"
            self.kind = "conversion" if definition.kind == "conversion" else "error"
            if self.machine.stopped or isinstance(error, _ENDING):
                raise

    async def _result(self, call: RequestedCall | None) -> Any:
        # The scope distinguishes prompts that run in parallel, for the journal.
        definition, frame = self.definition, self.frame
        scope = current_scope().part("p" + ".".join(map(str, frame.position)))
        apply = partial(definition.apply, self.arguments)
        apply = partial(call_inside, partial(within, scope), apply)
        if call is not None:
            apply = partial(call_inside, call.inside, apply)
        may_leave = definition.pure and frame.beside
        if may_leave and not inspect.iscoroutinefunction(definition.function):
            return await in_thread(apply)
        return await maybe_await(apply())

    def encode(self) -> dict[str, Any]:
        """Returns the outcome of the call as an entry for a journal."""
        text = None
        if self.error is None:
            with suppress(CheckError):
                text = to_json(self.value)
                made_again = decode(parse(text), self.definition.result)
                text = text if is_equal(made_again, self.value) else None
        error = self.error if self.ambiguity is None else None
        return {"result": text, "error": error, "kind": self.kind}

    def decode(self, kept: Mapping[str, Any]) -> ProgramCall | None:
        """Takes the outcome of the call from a journal's entry.

        Returns None if the call must be made again.
        """
        definition = self.definition
        if kept["error"] is not None:
            self.error, self.kind = kept["error"], kept["kind"]
        else:
            try:
                # The result may not be JSON, or the function's type may have changed.
                self.value = decode(parse(kept["result"] or ""), definition.result)
            except CheckError:
                if not definition.waits:
                    return None
                raise JournalError(
                    f"{definition.name} was approved and has ended, and its result cannot be taken "
                    "from the journal: it is not called again",
                    hint="give a result that JSON holds, and begin another journal",
                ) from None
        return described(self.end(kept["ms"] / 1000), self.machine.registry)


def _sent(arguments: dict[str, Any]) -> str:
    """Returns the arguments as JSON text, or "" if JSON has no form for one of them."""
    try:
        return to_json(arguments)
    except CheckError:
        return ""


def _perform(step: Wait) -> Steps[Any]:
    """Performs a wait; a wait that cannot be awaited blocks the thread of the program."""
    return step.blocking() if step.awaitable is None else (yield step)


def _most_at_once() -> int:
    """Returns how many calls may run in parallel, which is the setting `max_in_flight`.

    The result is 1 if the program itself runs in parallel with other work, or if the provider must
    be called in order.
    """
    from runtime_support._core.settings import settings_for

    try:
        settings = settings_for()
    except ConfigError:
        return 1  # the first prompt reports the error
    if runs_in_parallel() or getattr(settings.provider, "answers_in_order", False):
        return 1
    return settings.max_in_flight


def describe_error(error: BaseException) -> str:
    """Returns `Class: message`, even if the exception cannot be converted to text."""
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


T = TypeVar("T")


class TimeUp(Exception):
    """The work did not end in time; its tasks were cancelled."""


def run_within(seconds: float, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs the coroutine in a thread and returns its result; raises TimeUp after `seconds`."""
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
            with suppress(RuntimeError):  # the loop was closed in the meantime
                loop.call_soon_threadsafe(cancel_all)
    if not done:
        raise TimeUp
    return outcome_value(future.result())


def run_now(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine that never waits, and returns its result."""
    try:
        work.send(None)
    except StopIteration as result:
        return result.value
    raise RuntimeError("the work had to wait")


def is_larger(value: Any, most: int, container: int = 0) -> bool:
    """True if the value has more than about `most` bytes as JSON text.

    To estimate the size in memory, `container` bytes are added for each list, object and record.
    The bytes are counted only until they exceed `most`.
    """
    size, pending = 0, [value]
    while pending and size <= most:
        one = pending.pop()
        if isinstance(one, str):
            size += len(one.encode("utf-8", "surrogatepass")) + 2
        elif isinstance(one, bytes | bytearray):
            size += len(one)
        elif isinstance(one, int):
            size += one.bit_length() // 3 + 1
        elif is_list(one) or is_tuple(one):
            size += len(one) + 1 + container
            is_plain = set(map(type, one)) <= _SHORT  # for long lists: no look at each item
            size += 4 * len(one) if is_plain else 0
            pending += () if is_plain or size > most else one
        elif is_object(one):
            size += sum(len(str(key)) + 4 for key in one) + container
            pending += one.values()
        else:
            fields = getattr(one, "__dataclass_fields__", {})
            size += 4 + container * bool(fields)
            pending += [getattr(one, name, None) for name in fields]
    return size > most
