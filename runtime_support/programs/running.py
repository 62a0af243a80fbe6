"""From a program to its outcome: read, check, evaluate, and say what came of it.

evaluate({"add": {"a": 1, "b": 2}}, registry)    Success(3, ...)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from runtime_support.programs.checking import CheckedProgram, check_program
from runtime_support.programs.limits import Limits
from runtime_support.programs.machine import Machine, OnCall
from runtime_support.programs.outcomes import (
    Ambiguous,
    Call,
    Diagnostic,
    Failure,
    Outcome,
    Success,
    invalid,
)
from runtime_support.programs.paths import is_list, is_object, is_tuple, pointer
from runtime_support.programs.problems import Failed, Frame, Problem, Stopped, Unclear
from runtime_support.programs.reading import NotJson, TooLarge, read
from runtime_support.programs.registry import Registry
from runtime_support.programs.unrolling import points_of

DEFAULT_LIMITS = Limits()


def evaluate(
    program: Any,
    registry: Registry,
    *,
    returns: Any = Any,
    limits: Limits = DEFAULT_LIMITS,
    on_call: OnCall | None = None,
    earlier: Sequence[Call] = (),
) -> Outcome:
    """Checks the whole program and then runs it.

    `program` is parsed JSON or its text; `returns` the Python type of the value; `on_call(name,
    arguments)` sees every call before it is made and denies it by returning something false (or
    by raising). `earlier` are calls made for the same request before: where the program repeats
    one that had effects, its result is taken and the effect does not happen again.
    """
    checked = check(program, registry, returns=returns, limits=limits)
    if not isinstance(checked, CheckedProgram):
        return checked
    return run(checked, limits=limits, on_call=on_call, earlier=earlier)


def check(
    program: Any, registry: Registry, *, returns: Any = Any, limits: Limits = DEFAULT_LIMITS
) -> CheckedProgram | Failure | Ambiguous:
    """The checked program, or why it cannot run; nothing is called."""
    try:
        reading = read(program, limits)
        expected = registry.read_type(returns)
        return check_program(reading.program, registry, expected, reading.diagnostics)
    except TooLarge as error:
        return _failure("limit", str(error))
    except NotJson as error:
        return invalid([Diagnostic(str(error), pointer(error.path))])
    except RecursionError:
        return _failure("limit", "the program is nested deeper than Python can follow")


def run(
    checked: CheckedProgram,
    *,
    limits: Limits = DEFAULT_LIMITS,
    on_call: OnCall | None = None,
    earlier: Sequence[Call] = (),
) -> Outcome:
    """Evaluates a checked program."""
    from runtime_support.programs.evaluation import Evaluator
    from runtime_support.programs.scheduling import TimeUp, run_now, run_within

    machine = Machine(limits, on_call, earlier)
    evaluator = Evaluator(checked, machine)
    start = Frame(names={})
    try:
        if checked.root.calls:
            value = run_within(limits.seconds, lambda: evaluator.value(checked.root, start))
        else:
            value = run_now(evaluator.value(checked.root, start))
    except TimeUp:
        message = f"the program timed out: it took longer than {limits.seconds:g} s"
        return replace(_failure("timeout", message), calls=machine.calls)
    except Stopped as stopped:
        if machine.abort is not None:
            raise machine.abort from None
        return _stopped(stopped.problems, checked, machine)
    except RecursionError:
        message = "the program is nested deeper than Python can follow"
        return replace(_failure("limit", message), calls=machine.calls)
    finally:
        machine.stopped = True
    if _is_larger(value, limits.bytes):
        message = f"the result has more than {limits.bytes} bytes"
        return replace(_failure("limit", message), calls=machine.calls)
    return Success(value, checked.program, machine.calls)


def _stopped(
    problems: Sequence[Problem], checked: CheckedProgram, machine: Machine
) -> Failure | Ambiguous:
    """A failure outranks an ambiguity; the first in source order is the one that is shown."""
    failed = sorted(
        (one for one in problems if isinstance(one, Failed)), key=lambda one: one.position
    )
    if failed:
        found = dict.fromkeys((one.message, pointer(one.path)) for one in failed)
        diagnostics = tuple(Diagnostic(message, path) for message, path in found)
        first = diagnostics[0]
        return Failure(failed[0].kind, first.message, first.path, diagnostics, machine.calls)
    unclear = [one for one in problems if isinstance(one, Unclear)]
    settled = {path for _, path in machine.settled}
    points = points_of(unclear, settled, checked.program, checked.registry)
    return Ambiguous(points, machine.calls)


def _failure(kind: Any, message: str) -> Failure:
    return Failure(kind, message, "", (Diagnostic(message, ""),))


def _is_larger(value: Any, most: int) -> bool:
    """Whether the value as JSON text would have more bytes; stops at the first too many."""
    size = 0
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            size += len(one) + 2 if one.isascii() else len(one.encode("utf-8", "surrogatepass")) + 2
        elif isinstance(one, int):
            size += one.bit_length() // 3 + 1
        elif is_list(one) or is_tuple(one):
            pending.extend(one)
            size += len(one) + 1
        elif is_object(one):
            pending.extend(one.values())
            size += sum(len(str(key)) + 4 for key in one)
        elif hasattr(one, "__dataclass_fields__") and not isinstance(one, type):
            pending.extend(getattr(one, name, None) for name in one.__dataclass_fields__)
            size += len(type(one).__name__)
        else:
            size += 4
        if size > most:
            return True
    return False
