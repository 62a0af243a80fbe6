"""Programs as JSON data: of bounded size, the places in them, and the forms that they may have.

    read(ProgramText('{"a": 1, "a": 2}'), limits)
                        JSON data, and what is wrong with it: duplicate key 'a'
    at(program, ("add", "a"))           the value at a path: the keys and indexes from the root
    pointer(("add", "a/b", 0))          "/add/a~1b/0": a path as people see it, a JSON Pointer

Reading has no recursion and stops at the first bound it passes, so that any input is safe.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from runtime_support._values import holds_halves, is_list, is_object
from runtime_support.programs._outcomes import Diagnostic, compact


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one evaluation.

    `depth` of nested expressions, `nodes` in the program, `calls` made (those in a `$map` once
    for each element), `items` in a list of the program and in all that its `$map`s walk over,
    `seconds` from start to end, `bytes` of the program and of its result as JSON text in UTF-8,
    `value_bytes` of each value in between, about as it takes them in memory.
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
    """The path as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def at(program: Any, path: Path) -> Any:
    """The value at the path."""
    for key in path:
        program = program[key]
    return program


def replace_at(program: Any, path: Path, new: Any) -> Any:
    """The program with `new` at the path; the original is left as it is."""
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


LARGEST_INTEGER_BITS = 14_000  # Python itself refuses to write much longer ones as text


class TooLarge(Exception):
    """The program passes a limit; the message says which."""


class NotJson(Exception):
    """The program is not JSON: the text does not parse, or the data holds something else."""

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.path = path


class RepeatedNames(dict[str, Any]):
    """An object whose text names these keys more than once."""

    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramText:
    """The JSON text of a program, wherever a program is taken; a plain text is a value instead."""

    text: str


@dataclass(frozen=True, slots=True)
class ReadProgram:
    program: Any
    diagnostics: tuple[Diagnostic, ...]


def read_program(program: Any, limits: Limits) -> ReadProgram:
    """The program as JSON data; raises TooLarge and NotJson."""
    if isinstance(program, ProgramText):
        _check_size(program.text, limits)
        program = _parse(program.text, limits)
        return ReadProgram(program, tuple(_survey(program, limits)))
    diagnostics = tuple(_survey(program, limits))
    if not diagnostics:
        _check_size(compact(program), limits)
    return ReadProgram(program, diagnostics)


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


def _survey(program: Any, limits: Limits) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    nodes = 0
    pending: list[tuple[Any, Path, int]] = [(program, (), 1)]
    while pending:
        value, path, depth = pending.pop()
        nodes += 1
        if nodes > limits.nodes:
            raise TooLarge(f"the program has more than {limits.nodes} nodes")
        if is_list(value) and len(value) > limits.items:
            raise TooLarge(f"a list of the program has more than {limits.items} items")
        if not (is_list(value) or is_object(value)):
            found += _scalar(value, path)
            continue
        if depth > limits.depth:
            raise TooLarge(f"the program is nested deeper than {limits.depth}")
        if is_object(value):
            found += _keys(value, path)
        children = [(one, (*path, *more), depth + 1) for one, more in expressions_in(value)]
        pending.extend(reversed(children))
    return found


def expressions_in(value: Any) -> list[tuple[Any, Path]]:
    """The expressions directly in this one, with their paths from it.

    The object of a call's arguments is not itself an expression, nor is that of a form.
    """
    if is_list(value):
        return [(item, (index,)) for index, item in enumerate(value)]
    if not is_object(value):
        return []
    children: list[tuple[Any, Path]] = []
    for name, child in value.items():
        if len(value) > 1 or not is_object(child):
            children.append((child, (name,)))
            continue
        for inner, expression in child.items():
            if name == "$let" and inner == "bind" and is_object(expression):
                children += [(one, (name, inner, x)) for x, one in expression.items()]
            else:
                children.append((expression, (name, inner)))
    return children


def _keys(value: dict[Any, Any], path: Path) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for name in value:
        if not isinstance(name, str):
            raise NotJson(f"the key {name!r} is not text", path)
        found += _text(name, path)
    if len(value) == 1 and is_object(body := next(iter(value.values()))):
        found += _keys(body, (*path, *value))
        if "$let" in value and is_object(bindings := body.get("bind")):
            found += _keys(bindings, (*path, "$let", "bind"))
    if isinstance(value, RepeatedNames):
        found += [Diagnostic(f"duplicate key '{key}'", pointer(path)) for key in value.repeated]
    return found


def _scalar(value: Any, path: Path) -> list[Diagnostic]:
    if value is None or type(value) is bool:
        return []
    if type(value) is str:
        return _text(value, path)
    if type(value) is int:
        if value.bit_length() <= LARGEST_INTEGER_BITS:
            return []
        return [Diagnostic("the number is too large", pointer(path))]
    if type(value) is float:
        if math.isfinite(value):
            return []
        name = "NaN" if math.isnan(value) else "Infinity"
        return [Diagnostic(f"{name} is not a JSON number", pointer(path))]
    raise NotJson(f"a Python {type(value).__name__} is not JSON", path)


def _text(text: str, path: Path) -> list[Diagnostic]:
    if holds_halves(text):
        return [Diagnostic("a text holds half of a surrogate pair", pointer(path))]
    return []


FORMS: dict[str, dict[str, bool]] = {
    "$object": {},
    "$ref": {},
    "$let": {"bind": True, "in": True},
    "$map": {"over": True, "as": True, "do": True, "where": False},
    "$if": {"test": True, "then": True, "else": True},
}
"""The forms by name, with the keys that each may have, and whether it needs them."""


def offer_names(names: list[str]) -> str:
    """The tail of a message that offers the names, empty without any."""
    return f", did you mean {' or '.join(names)}?" if names else ""
