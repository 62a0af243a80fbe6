"""Places in a program, and copies of a program with one place changed.

A path is the keys and indexes from the root; outside the package it is written as a JSON Pointer.

    pointer(("add", "a/b", 0))               "/add/a~1b/0"
    replaced({"f": {"x": 1}}, ("f", "x"), 2)  {"f": {"x": 2}}
"""

from __future__ import annotations

from typing import Any, TypeGuard

Path = tuple[str | int, ...]


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def pointer(path: Path) -> str:
    """The path as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def at(program: Any, path: Path) -> Any:
    """What stands at the path."""
    for key in path:
        program = program[key]
    return program


def replaced(program: Any, path: Path, new: Any) -> Any:
    """The program with `new` at the path; the original is left as it is."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if is_object(program):
        return {
            name: replaced(value, rest, new) if name == key else value
            for name, value in program.items()
        }
    return [
        replaced(value, rest, new) if index == key else value for index, value in enumerate(program)
    ]


def renamed(program: Any, path: Path, new: str) -> Any:
    """The program with the last key of the path renamed, at its old place among the keys."""
    parent = at(program, path[:-1])
    fields = {new if name == path[-1] else name: value for name, value in parent.items()}
    return replaced(program, path[:-1], fields)


def starts_with(path: Path, start: Path) -> bool:
    return path[: len(start)] == start
