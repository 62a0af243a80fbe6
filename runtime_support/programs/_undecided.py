"""Which expression means an option of a function that could not decide.

    conv extract(selection) -> Symbol: ret find_symbol(selection.text)

Where `find_symbol` cannot decide and `extract` would only hand its result on, the option is a call
of `find_symbol`, with what it was given: `{"find_symbol": {"name": "emma", "file": "a.py"}}`. What
is handed on is read from the source of the functions, along the traceback of the Ambiguity; where
that cannot tell, the option is one for the call that the program has made, or cannot be written.
"""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
from collections.abc import Callable
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

from runtime_support._ambiguity import Ambiguity, Option, ambiguous
from runtime_support.programs._registry import Definition, Registry
from runtime_support.programs._writing import SerializationError, is_default, serialize

# What is between a call of the program and its function.
_MACHINERY = ("runtime_support", "asyncio", "concurrent", "threading")


def option_written(
    option: Option,
    ambiguity: Ambiguity,
    definition: Definition,
    registry: Registry,
    with_arguments: Callable[[dict[str, Any]], Any],
) -> Any:
    """The expression that the option puts in the place of a call of the definition.

    `with_arguments` writes that call with further arguments. Raises SerializationError when there
    is no such expression.
    """
    frames = _frames(ambiguity)
    handed = 1  # how many frames return the result of the call
    for (frame, last), (inner, _) in pairwise(frames):
        if not _hands_on(frame, last, inner.f_code):
            break
        handed += 1
    if option.values:
        if handed < len(frames):
            raise SerializationError(f"{definition.name} goes on with the value")
        return serialize(option.values[0], registry)
    given = {name: serialize(value, registry) for name, value in option.arguments.items()}
    for frame, _ in frames[handed - 1 : 0 : -1]:
        for known in registry.definitions.values():
            if _code(known.function) is frame.f_code and all(map(known.parameter, given)):
                return {known.name: {**_arguments(known, frame, registry), **given}}
    for name in given:
        if definition.parameter(name) is None:
            raise SerializationError(f"{definition.name} has no parameter '{name}'")
    return with_arguments(given)


def is_from_within(ambiguity: Ambiguity) -> bool:
    """Whether it was raised by something that the function of the program has called."""
    return len(_frames(ambiguity)) > 1


def _frames(ambiguity: Ambiguity) -> list[tuple[FrameType, int]]:
    """The frames of the functions, from the one called on, with the last instruction of each."""
    found: list[tuple[FrameType, int]] = []
    trace = ambiguity.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        is_raising = trace.tb_frame.f_code is ambiguous.__code__
        if not is_raising and (found or module not in _MACHINERY):
            found.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    return found


def _hands_on(frame: FrameType, last: int, inner: CodeType) -> bool:
    """Whether the frame returns what its call of the inner code gives, and nothing else."""
    line, end_line, column, end_column = list(frame.f_code.co_positions())[last // 2]
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return False
    for node in ast.walk(tree):
        if not isinstance(node, ast.Return | ast.Lambda):
            continue
        value = node.value if isinstance(node, ast.Return) else node.body
        call = value.value if isinstance(value, ast.Await) else value
        if value is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        for one in (value, call):
            place = one.lineno, one.end_lineno, one.col_offset, one.end_col_offset
            if place == (line, end_line, column, end_column):
                name = call.func.id
                function = frame.f_locals.get(name, frame.f_globals.get(name))
                return _code(function) is inner
    return False


def _code(function: Any) -> CodeType | None:
    return getattr(inspect.unwrap(function), "__code__", None)


def _arguments(known: Definition, frame: FrameType, registry: Registry) -> dict[str, Any]:
    """What the function was called with, where its variables still have it."""
    written: dict[str, Any] = {}
    for parameter in known.parameters:
        name = parameter.python_name
        if parameter.takes_rest or name in _bound_again(frame.f_code):
            raise SerializationError(f"{known.name} has changed what it was given for '{name}'")
        value = frame.f_locals[name]
        if parameter.required or not is_default(value, parameter):
            written[parameter.name] = serialize(value, registry)
    return written


def _bound_again(code: CodeType) -> set[str]:
    """The variables that the code itself sets or deletes."""
    found: set[str] = set()
    for one in dis.get_instructions(code):
        if one.opname.startswith(("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF")):
            found.update([one.argval] if isinstance(one.argval, str) else one.argval)
    return found
