"""Digests of the values that a tool closes over.

    closed = closed_values(pay)
    compared(kept, closed)        "same" or "other", or "unsure" if that cannot be decided

Models do not see these values, so requests may be equal although the values differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from inspect import unwrap
from types import CellType, FunctionType, MethodType
from typing import Any, Literal, NamedTuple, TypeAlias

from runtime_support._core.positions.frames import is_ours
from runtime_support._journal.json_lines import key_of_data
from runtime_support._language.failures import is_compiled
from runtime_support._values.kinds import is_list, is_tuple

# How many parts of a value are read; a value with more parts has no digest.
MOST_PARTS = 10_000
_PARAMETERS = "__dataclass_params__"

Match: TypeAlias = Literal["same", "other", "unsure"]


class ClosedValues(NamedTuple):
    """Digests of the values that a function closes over, each with its name: `order=5a0748f0`.

    `fixed` values stay the same during a run, `changing` values may change; `unknown` counts the
    values that have no digest.
    """

    fixed: list[str]
    changing: list[str]
    unknown: int

    def settled(self, later: ClosedValues) -> ClosedValues:
        """Returns only the digests that are also in `later`.

        A value that changes during a call is left out, because it cannot identify the call.
        """
        return ClosedValues(
            [one for one in self.fixed if one in later.fixed],
            [one for one in self.changing if one in later.changing],
            self.unknown,
        )


NOTHING_CLOSED = ClosedValues([], [], 0)


def closed_values(function: Any, *, with_mutable: bool = True) -> ClosedValues:
    """Digests of the values that a function closes over, and of the module variables that it reads.

    Functions that it closes over or calls are searched, too. Without `with_mutable`, values that a
    call may change are left out.
    """
    found = ClosedValues([], [], 0)
    unknown = 0
    for name, value, may_change in _values_of(function, set()):
        reader = _ValueReader()
        try:
            digest = f"{name}={key_of_data(reader.read(value))}"
        # Another thread may change the value meanwhile, or the value may contain itself.
        except (_NoData, AttributeError, RuntimeError):
            unknown += not may_change
            continue
        is_fixed = not may_change and (not reader.is_mutable or _is_of_script(unwrap(function)))
        if is_fixed or with_mutable:
            (found.fixed if is_fixed else found.changing).append(digest)
    return ClosedValues(sorted(found.fixed), sorted(found.changing), unknown)


def compared(kept: ClosedValues, now: ClosedValues) -> Match:
    """Says whether a recorded call was made with the values that the function closes over now.

    `kept` are the digests of the recorded call. The answer is "unsure" if a value has no digest, or
    if only values that may change differ. An edited function may close over more values than
    before, or fewer, or under other names. This alone does not count as a difference.
    """
    if not _agree(kept.fixed, now.fixed):
        return "other"
    if kept.unknown or now.unknown or not _agree(kept.changing, now.changing):
        return "unsure"
    return "same"


def _agree(ones: list[str], others: list[str]) -> bool:
    here, there = set(ones), set(others)
    values, other_values = _parts(here, 2), _parts(there, 2)
    has_all = values <= other_values or other_values <= values
    return has_all and not _parts(here - there, 0) & _parts(there - here, 0)


def _parts(digests: set[str], side: int) -> set[str]:
    """The names (side 0) or the values (side 2) of named digests."""
    return {one.partition("=")[side] for one in digests}


def _values_of(
    function: Any, seen: set[int], *, is_global: bool = False
) -> Iterator[tuple[str, Any, bool]]:
    """Yields each value that the function closes over or reads from its module, with its name.

    The bool is True if the value is a variable of the module.
    """
    if id(function) in seen:
        return
    seen.add(id(function))
    match function:
        case MethodType():
            values = [("self", function.__self__, False), ("", function.__func__, False)]
        case partial():
            given = [("", function.func), *enumerate(function.args), *function.keywords.items()]
            values = [(f"{name}", one, False) for name, one in given]
        case FunctionType() if not is_ours(function.__code__.co_filename):
            known, code = function.__globals__, function.__code__
            closure: tuple[CellType, ...] = function.__closure__ or ()
            cells = zip(code.co_freevars, closure, strict=True)
            values = [(name, _content(cell), False) for name, cell in cells]
            values += [(name, known[name], True) for name in code.co_names if name in known]
        case _ if hasattr(function, "__wrapped__"):  # by `approve` or `lru_cache`, for example
            values = [("", function.__wrapped__, is_global)]
        case _:
            is_own = type(function).__module__.partition(".")[0] in ("builtins", "runtime_support")
            if callable(function) and not isinstance(function, type) and not is_own:
                yield "", function, is_global
            return
    for name, value, may_change in values:
        if not callable(value):
            yield name, value, may_change
        elif not may_change or getattr(value, "__module__", "") == function.__module__:
            yield from _values_of(value, seen, is_global=may_change)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it has no value yet
        return None


def _is_of_script(function: Any) -> bool:
    """True if Saft compiled the function, so that it never changes values that it closes over."""
    return isinstance(function, FunctionType) and is_compiled(
        function.__code__, function.__globals__
    )


class _NoData(Exception):
    """Raised for a value that has no digest."""


class _ValueReader:
    """Reads a value as JSON data, and records whether any part of the value is mutable."""

    def __init__(self) -> None:
        self.is_mutable = False
        self._left = MOST_PARTS

    def read(self, value: Any) -> Any:
        """The value as JSON data.

        Raises _NoData if the value has no JSON form or too many parts.
        """
        self._left -= 1
        if self._left < 0:
            raise _NoData
        match value:
            case None | bool() | int() | float() | str():
                return value if not isinstance(value, Enum) else repr(value)
            case bytes() | Decimal() | date() | time() | timedelta() | Enum():
                return repr(value)
            case _:
                return self._read_parts(value)

    def _read_parts(self, value: Any) -> list[Any]:
        whole: Any = value
        if is_dataclass(value):
            is_frozen: bool = getattr(type(value), _PARAMETERS).frozen
            self.is_mutable |= not is_frozen
            return [[one.name, self.read(getattr(value, one.name))] for one in fields(value)]
        if is_tuple(value):
            return [self.read(one) for one in value]
        self.is_mutable |= not isinstance(value, frozenset)
        if is_list(value):
            return [self.read(one) for one in value]
        if isinstance(value, set | frozenset):
            return sorted((self.read(one) for one in whole), key=repr)
        if hasattr(whole, "model_fields"):  # a pydantic model: its fields are its variables
            return self.read(vars(whole))
        if not isinstance(value, dict):
            raise _NoData
        return sorted(([self.read(name), self.read(whole[name])] for name in whole), key=repr)
