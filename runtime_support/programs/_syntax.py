"""Reads programs as JSON data within limits, and finds expressions by their paths.

    read_program(ProgramText('{"a": 1, "a": 2}'), limits)
                        the JSON data, and a list of mistakes: duplicate key 'a'
    at(program, ("add", "a"))           the value at a path: the keys and indexes from the root
    pointer(("add", "a/b", 0))          "/add/a~1b/0": the path as text, a JSON Pointer

Reading does not recurse, and stops at the first limit that is exceeded, so any input is safe.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from runtime_support._values.kinds import holds_halves, is_list, is_object
from runtime_support.programs._outcomes import Diagnostic, compact


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one evaluation.

    - `depth` limits how deep expressions are nested.
    - `nodes` limits how many expressions the program has.
    - `calls` limits how many calls are made; a call in a `$map` counts once for each element.
    - `items` limits the length of each list, and the elements of all `$map`s together.
    - `seconds` limits the time from start to end.
    - `bytes` limits the size of the program, and of its result, as JSON text in UTF-8.
    - `value_bytes` limits the approximate size in memory of each intermediate value.
    """

    depth: int = 32
    nodes: int = 512
    calls: int = 256
    items: int = 1_000
    seconds: float = 10.0
    bytes: int = 64 * 1024
    value_bytes: int = 32 * 1024 * 1024


Path = tuple[str | int, ...]


def pointer(path: Path) -> str:
    """Returns the path as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def at(program: Any, path: Path) -> Any:
    """Returns the value at the path."""
    for key in path:
        program = program[key]
    return program


def replace_at(program: Any, path: Path, new: Any) -> Any:
    """Returns the program with `new` at the path; the original is not changed."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if is_object(program):
        return {
            name: replace_at(value, rest, new) if name == key else value
            for name, value in program.items()
        }
    return [
        replace_at(value, rest, new) if index == key else value
        for index, value in enumerate(program)
    ]


LARGEST_INTEGER_BITS = 14_000  # Python refuses to convert much larger integers to text


class TooLarge(Exception):
    """The program exceeds a limit; the message names the limit."""


class NotJson(Exception):
    """The program is not JSON.

    Its text cannot be parsed, or its data has values that JSON does not have.
    """

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.path = path


class RepeatedNames(dict[str, Any]):
    """An object whose JSON text has some keys more than once."""

    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramText:
    """The JSON text of a program.

    A plain string, in contrast, is a program whose value is the string.
    """

    text: str


def read_program(program: Any, limits: Limits) -> tuple[Any, list[Diagnostic]]:
    """Returns the program as JSON data, and the list of its mistakes.

    Raises TooLarge if it exceeds a limit, and NotJson if it is not JSON.
    """
    if isinstance(program, ProgramText):
        _check_size(program.text, limits)
        program = _parse(program.text, limits)
        return program, list(_survey(program, limits))
    diagnostics = list(_survey(program, limits))
    if not diagnostics:
        _check_size(compact(program), limits)
    return program, diagnostics


def _check_size(text: str, limits: Limits) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limits.bytes:
        raise TooLarge(f"the program has {size} bytes, more than {limits.bytes} bytes")


def _parse(text: str, limits: Limits) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=float)
    except RecursionError:
        raise TooLarge(f"the program is nested deeper than {limits.depth}") from None
    except ValueError as error:
        raise NotJson(f"the program is not JSON: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = RepeatedNames(pairs)
    if len(fields) == len(pairs):
        return dict(fields)
    names = [name for name, _ in pairs]
    fields.repeated = tuple(name for name in fields if names.count(name) > 1)
    return fields


def _survey(program: Any, limits: Limits) -> Iterator[Diagnostic]:
    """Yields the mistakes in strings, numbers and keys; raises TooLarge if a limit is exceeded.

    Some objects are not expressions: the arguments of a call, the body of a form, and the bindings
    of a `$let`. They count neither as nodes nor as levels.
    """
    nodes = 0
    pending: list[tuple[Any, Path, int, bool]] = [(program, (), 1, True)]
    while pending:
        value, path, depth, is_expression = pending.pop()
        nodes += is_expression
        if nodes > limits.nodes:
            raise TooLarge(f"the program has more than {limits.nodes} nodes")
        if is_list(value) and len(value) > limits.items:
            raise TooLarge(f"a list of the program has more than {limits.items} items")
        if not (is_list(value) or is_object(value)):
            yield from _wrong_scalar(value, path)
            continue
        if depth > limits.depth and is_expression:
            raise TooLarge(f"the program is nested deeper than {limits.depth}")
        children = list(enumerate(value))
        if is_object(value):
            yield from _wrong_keys(value, path)
            children = list(value.items())
        is_call = is_expression and len(value) == 1
        for key, child in reversed(children):
            binds = not is_expression and (path[-1], key) == ("$let", "bind")
            holds = is_object(value) and is_object(child) and (is_call or binds)
            pending.append((child, (*path, key), depth if holds else depth + 1, not holds))


def _wrong_keys(value: dict[Any, Any], path: Path) -> Iterator[Diagnostic]:
    for name in value:
        if not isinstance(name, str):
            raise NotJson(f"the key {name!r} is not text", path)
        yield from _wrong_scalar(name, path)
    for name in value.repeated if isinstance(value, RepeatedNames) else ():
        yield Diagnostic(f"duplicate key '{name}'", pointer(path))


def _wrong_scalar(value: Any, path: Path) -> Iterator[Diagnostic]:
    match value:
        case str() if holds_halves(value):
            yield Diagnostic("a text holds half of a surrogate pair", pointer(path))
        case int() if value.bit_length() > LARGEST_INTEGER_BITS:
            yield Diagnostic("the number is too large", pointer(path))
        case float() if not math.isfinite(value):
            name = "NaN" if math.isnan(value) else "Infinity"
            yield Diagnostic(f"{name} is not a JSON number", pointer(path))
        case None | str() | int() | float():
            pass
        case _:
            raise NotJson(f"a Python {type(value).__name__} is not JSON", path)


FORMS: dict[str, dict[str, bool]] = {
    "$object": {},
    "$ref": {},
    "$let": {"bind": True, "in": True},
    "$map": {"over": True, "as": True, "do": True, "where": False},
    "$if": {"test": True, "then": True, "else": True},
}
"""The forms by name, with the keys that each may have, and whether it needs them."""


def offer_names(names: list[str]) -> str:
    """Returns the end of a message that suggests the names, or "" if there are no names."""
    return f", did you mean {' or '.join(names)}?" if names else ""
