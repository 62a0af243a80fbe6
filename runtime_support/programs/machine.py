"""The machine that makes the calls of one evaluation: counted, permitted, checked, recorded.

Everything that a program does passes through `Machine.call`, and nothing else calls a function.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runtime_support.errors import ConfigError, ProviderError
from runtime_support.programs.ambiguity import Ambiguity
from runtime_support.programs.limits import Limits
from runtime_support.programs.outcomes import Call, FailureKind
from runtime_support.programs.paths import Path, pointer
from runtime_support.programs.problems import Failed, Frame, Position, Stopped
from runtime_support.programs.registry import Definition
from runtime_support.programs.types import notation
from runtime_support.programs.values import Misfit, conform, kind_name

if TYPE_CHECKING:
    from asyncio import Semaphore

MOST_THREADS = 16

OnCall = Callable[[str, dict[str, Any]], bool]


class Halted(BaseException):
    """The evaluation is over, in time or not: nothing more may be called."""


class Machine:
    """State of one evaluation. `earlier` are calls whose effects must not happen again."""

    def __init__(
        self, limits: Limits, on_call: OnCall | None = None, earlier: Sequence[Call] = ()
    ) -> None:
        self.stopped = False
        self.abort: BaseException | None = None
        self.settled: set[tuple[str, Path]] = set()
        self._limits = limits
        self._on_call = on_call
        self._earlier = [call for call in earlier if not call.pure and call.error is None]
        self._calls: list[tuple[Position, Call]] = []
        self._made = 0
        self._walked = 0
        self._places: Semaphore | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that ended, in source order."""
        return tuple(call for _, call in sorted(self._calls, key=lambda pair: pair[0]))

    def walk(self, items: int, path: Path, frame: Frame) -> None:
        """Counts the items that a `$map` goes over."""
        self._walked += items
        if self._walked > self._limits.items:
            raise self.failed("limit", f"more than {self._limits.items} items", path, frame)

    def failed(self, kind: FailureKind, message: str, path: Path, frame: Frame) -> Stopped:
        return Stopped(Failed(frame.position, path, kind, message))

    async def call(
        self, definition: Definition, arguments: dict[str, Any], path: Path, frame: Frame
    ) -> Any:
        """What the callable returns, as its declared type; raises Stopped or Ambiguity."""
        if self.stopped:
            raise Halted
        if self._made >= self._limits.calls:
            raise self.failed("limit", f"more than {self._limits.calls} calls", path, frame)
        self._made += 1
        earlier = None if definition.pure else self._take_earlier(definition.name, arguments)
        if earlier is not None:
            self._record(definition, arguments, path, frame, result=earlier.result, reused=True)
            return earlier.result
        self._permit(definition.name, arguments, path, frame)
        started = time.perf_counter()
        result: Any = None
        message: str | None = None
        kind: FailureKind = "error"
        try:
            result = await self._apply(definition, arguments, frame)
        except Ambiguity as ambiguity:
            message = str(ambiguity)
            raise
        except BaseException as error:
            message = f"{definition.name}: {describe_error(error)}"
            if self.stopped:
                raise
            if isinstance(error, KeyboardInterrupt | SystemExit | ProviderError | ConfigError):
                self.abort = error  # a prompt without its provider, the end of the process
        else:
            try:
                result = conform(result, definition.result)
            except Misfit as error:
                kind, message = "bad_result", _bad_result(definition, result, error)
                result = None
        finally:
            seconds = time.perf_counter() - started
            self._record(
                definition, arguments, path, frame, result=result, error=message, seconds=seconds
            )
        if message is not None:
            raise self.failed(kind, message, path, frame)
        return result

    async def _apply(self, definition: Definition, arguments: dict[str, Any], frame: Frame) -> Any:
        may_leave = definition.pure and frame.beside
        if may_leave and not inspect.iscoroutinefunction(definition.function):
            result = await self._beside(lambda: definition.apply(arguments))
        else:
            result = definition.apply(arguments)
        while inspect.isawaitable(result):
            result = await result
        return result

    async def _beside(self, work: Callable[[], Any]) -> Any:
        """The work in a thread of its own, but not in too many at once."""
        from asyncio import Semaphore

        from runtime_support.programs.scheduling import in_thread

        if self._places is None:
            self._places = Semaphore(MOST_THREADS)
        async with self._places:
            return await in_thread(work)

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

    def _take_earlier(self, name: str, arguments: Mapping[str, Any]) -> Call | None:
        for index, call in enumerate(self._earlier):
            if call.name == name and _equal(call.arguments, arguments):
                return self._earlier.pop(index)
        return None

    def _record(
        self,
        definition: Definition,
        arguments: dict[str, Any],
        path: Path,
        frame: Frame,
        **more: Any,
    ) -> None:
        call = Call(
            definition.name, arguments, pointer(path), definition.kind, definition.pure, **more
        )
        self._calls.append((frame.position, call))


def describe_error(error: BaseException) -> str:
    """`Class: message`, whatever the exception's own text does."""
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _bad_result(definition: Definition, result: Any, error: Misfit) -> str:
    message = (
        f"{definition.name} should return {notation(definition.result)} "
        f"but returned {kind_name(result)}"
    )
    return message if str(error).startswith("expected") else f"{message}: {error}"


def _equal(left: Any, right: Any) -> bool:
    try:
        return bool(left == right)
    except Exception:  # values that do not compare are never taken for equal
        return False
