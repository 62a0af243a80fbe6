"""A program as it came, text or data, becomes JSON data of bounded size.

Goes in: text, or parsed JSON, that a model wrote. Comes out: the JSON data with what is wrong
in its raw form (duplicate keys, NaN and Infinity); or it raises TooLarge or NotJson.
The walk has no recursion and stops at the first bound it passes, so that any input is safe.

    read('{"a": 1, "a": 2}', limits)    diagnostics: duplicate key 'a'
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from runtime_support.programs.limits import Limits
from runtime_support.programs.outcomes import Diagnostic
from runtime_support.programs.paths import Path, is_list, is_object, pointer

LARGEST_INTEGER_BITS = 14_000  # Python itself refuses to write much longer ones as text


class TooLarge(Exception):
    """The program passes a limit; the message says which."""


class NotJson(Exception):
    """The program is not JSON: the text does not parse, or the data holds something else."""

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.path = path


class RepeatedKeys(dict[str, Any]):
    """An object whose text names these keys more than once."""

    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    program: Any
    diagnostics: tuple[Diagnostic, ...]


def read(program: Any, limits: Limits) -> Reading:
    """The program as JSON data; raises TooLarge and NotJson."""
    if isinstance(program, str):
        size = _text_size(program)
        if size > limits.bytes:
            raise TooLarge(f"the program has {size} bytes, more than {limits.bytes} bytes")
        program = _parse(program, limits)
    return Reading(program, tuple(_survey(program, limits)))


def _parse(text: str, limits: Limits) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=float)
    except RecursionError:
        raise TooLarge(f"the program is nested deeper than {limits.depth}") from None
    except ValueError as error:
        raise NotJson(f"the program is not JSON: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = RepeatedKeys(pairs)
    if len(fields) == len(pairs):
        return dict(fields)
    names = [name for name, _ in pairs]
    fields.repeated = tuple(name for name in fields if names.count(name) > 1)
    return fields


def _survey(program: Any, limits: Limits) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    nodes = size = 0
    pending: list[tuple[Any, Path, int]] = [(program, (), 1)]
    while pending:
        value, path, depth = pending.pop()
        nodes += 1
        if nodes > limits.nodes:
            raise TooLarge(f"the program has more than {limits.nodes} nodes")
        if is_list(value):
            if len(value) > limits.items:
                raise TooLarge(f"a list of the program has more than {limits.items} items")
        elif is_object(value):
            found += _keys(value, path)
            size += sum(_text_size(str(name)) + 4 for name in value)
        else:
            found += _scalar(value, path)
            size += _scalar_size(value)
            continue
        if depth > limits.depth:
            raise TooLarge(f"the program is nested deeper than {limits.depth}")
        children = [(one, (*path, *more), depth + 1) for one, more in expressions_in(value)]
        size += 2 + len(children)
        if size > limits.bytes:
            raise TooLarge(f"the program has more than {limits.bytes} bytes")
        pending.extend(reversed(children))
    if size > limits.bytes:
        raise TooLarge(f"the program has more than {limits.bytes} bytes")
    return found


def expressions_in(value: Any) -> list[tuple[Any, Path]]:
    """The expressions directly in this one, with their paths from it.

    The object of a call's arguments is no expression itself, and neither is that of a form.
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
    if len(value) == 1 and is_object(body := next(iter(value.values()))):
        found += _keys(body, (*path, *value))
        if "$let" in value and is_object(bindings := body.get("bind")):
            found += _keys(bindings, (*path, "$let", "bind"))
    if isinstance(value, RepeatedKeys):
        found += [Diagnostic(f"duplicate key '{key}'", pointer(path)) for key in value.repeated]
    return found


def _scalar(value: Any, path: Path) -> list[Diagnostic]:
    if value is None or type(value) in (bool, str):
        return []
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


def _scalar_size(value: Any) -> int:
    if isinstance(value, str):
        return _text_size(value) + 2
    if isinstance(value, int):
        return value.bit_length() // 3 + 1
    return len(repr(value)) if isinstance(value, float) else 4


def _text_size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
