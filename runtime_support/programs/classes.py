"""The classes that signatures speak of: those whose instances a program can write.

def gap(a: Point, b: Point) -> float     [Point]
def walk(route: Route) -> float          [Route, Point]     a Route has stops: list[Point]
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Any


def classes_of(functions: Iterable[Callable[..., Any]], returns: Any = Any) -> list[type]:
    """The record classes in the signatures and in the fields of records, each once."""
    found: dict[type, None] = {}
    for function in functions:
        if isinstance(function, type):
            _collect(function, found)
        else:
            for hint in _hints(inspect.unwrap(function)):
                _collect(hint, found)
    _collect(returns, found)
    return list(found)


def _collect(annotation: Any, found: dict[type, None]) -> None:
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        if annotation in found or not _is_record(annotation):
            if typing.is_typeddict(annotation):
                _collect_fields(annotation, found)
            return
        found[annotation] = None
        _collect_fields(annotation, found)
        return
    if type(annotation).__name__ == "TypeAliasType":
        _collect(getattr(annotation, "__value__", Any), found)
    for argument in typing.get_args(annotation):
        _collect(argument, found)


def _collect_fields(owner: Any, found: dict[type, None]) -> None:
    for hint in _hints(owner):
        _collect(hint, found)


def _is_record(python: type[Any]) -> bool:
    is_model = hasattr(python, "model_fields") and hasattr(python, "model_validate")
    is_named_tuple = tuple in python.__mro__ and hasattr(python, "_fields")
    return dataclasses.is_dataclass(python) or is_model or is_named_tuple


def _hints(owner: Any) -> list[Any]:
    try:
        return list(typing.get_type_hints(owner, include_extras=True).values())
    except (NameError, TypeError, AttributeError):
        return []
