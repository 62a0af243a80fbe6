"""JSON data becomes the syntax tree of the lambda calculus.

    {"$let": {"bind": {"x": 1}, "in": {"add": {"a": {"$ref": "x"}, "b": 2}}}}

    Let(bindings=(("x", Constant(1)),),
        body=Apply("add", {"a": ..., "b": 2}))

An object of one key is an `Apply`, and what stands under the key is read by `arguments_of` or
`operand_of` when it is known whether the key names a callable or the field of a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from runtime_support.programs.near import did_you_mean, near
from runtime_support.programs.paths import Path, is_list, is_object


@dataclass(frozen=True, slots=True)
class Constant:
    path: Path
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class ListOf:
    path: Path
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """An object of any fields; `start` is where they stand, below `$object` if it is written."""

    path: Path
    start: Path
    fields: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """An object of one key: a call of `name`, or a record of one field; `body` is JSON data."""

    path: Path
    name: str
    body: Any


@dataclass(frozen=True, slots=True)
class Let:
    path: Path
    bindings: tuple[tuple[str, Expression], ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class Ref:
    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class Map:
    path: Path
    over: Expression
    variable: str
    where: Expression | None
    body: Expression


@dataclass(frozen=True, slots=True)
class If:
    path: Path
    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Malformed:
    """An object that is none of the forms; what is wrong with it has been reported."""

    path: Path


Expression = Constant | ListOf | Record | Apply | Let | Ref | Map | If | Malformed

FORMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "$object": ((), ()),
    "$ref": ((), ()),
    "$let": (("bind", "in"), ()),
    "$map": (("over", "as", "do"), ("where",)),
    "$if": (("test", "then", "else"), ()),
}
"""The forms by name, with the keys that each needs and those that it may have."""


class Report:
    """Where the parser puts what is wrong: `wrong(message, path, renamings)`.

    A renaming is a path whose last key may be corrected to another name.
    """

    def __init__(self, wrong: Callable[[str, Path, Iterable[tuple[Path, str]]], None]) -> None:
        self.wrong = wrong


def parse(value: Any, path: Path, report: Report) -> Expression:
    """The expression at the path; a malformed one is reported and stands as Malformed."""
    if is_list(value):
        items = (parse(item, (*path, index), report) for index, item in enumerate(value))
        return ListOf(path, tuple(items))
    if not is_object(value):
        return Constant(path, value)
    special = [name for name in value if name.startswith("$")]
    if special:
        return _special(value, special, path, report)
    if len(value) == 1:
        ((name, body),) = value.items()
        return Apply(path, name, body)
    return Record(path, path, _fields(value, path, report))


def arguments_of(apply: Apply, report: Report) -> tuple[tuple[str, Expression], ...] | None:
    """The arguments by name, or None when the body is not an object of arguments."""
    if not is_object(apply.body):
        return None
    return _fields(apply.body, (*apply.path, apply.name), report)


def operand_of(apply: Apply, report: Report) -> Expression:
    """The body as one expression: a bare argument, or the value of a single field."""
    return parse(apply.body, (*apply.path, apply.name), report)


def _fields(
    value: dict[str, Any], path: Path, report: Report
) -> tuple[tuple[str, Expression], ...]:
    return tuple((name, parse(child, (*path, name), report)) for name, child in value.items())


def _special(value: dict[str, Any], special: list[str], path: Path, report: Report) -> Expression:
    for name in special:
        if name not in FORMS:
            others = near(name, FORMS)
            message = f"unknown form '{name}'{did_you_mean(others)}"
            report.wrong(message, (*path, name), [((*path, name), new) for new in others])
        elif len(value) > 1:
            report.wrong(f"'{name}' must be the only key of its object", path, ())
    name = special[0]
    if len(value) > 1 or name not in FORMS:
        return Malformed(path)
    body = value[name]
    inside = (*path, name)
    if name == "$ref":
        if isinstance(body, str):
            return Ref(path, body)
        report.wrong("'$ref' takes the name of a variable", inside, ())
        return Malformed(path)
    if not is_object(body):
        needed = ", ".join(FORMS[name][0]) or "fields"
        report.wrong(f"'{name}' takes an object of {needed}", inside, ())
        return Malformed(path)
    if name == "$object":
        return Record(path, inside, _fields(body, inside, report))
    if not _has_keys(name, body, inside, report):
        return Malformed(path)
    if name == "$let":
        return _let(body, path, report)
    if name == "$map":
        return _map(body, path, report)
    return If(
        path,
        parse(body["test"], (*inside, "test"), report),
        parse(body["then"], (*inside, "then"), report),
        parse(body["else"], (*inside, "else"), report),
    )


def _has_keys(form: str, body: dict[str, Any], path: Path, report: Report) -> bool:
    needed, optional = FORMS[form]
    missing = [name for name in needed if name not in body]
    unknown = [name for name in body if name not in (*needed, *optional)]
    free = [*missing, *(name for name in optional if name not in body)]
    for name in unknown:
        others = near(name, free)
        message = f"unknown key '{name}' of '{form}'{did_you_mean(others)}"
        report.wrong(message, (*path, name), [((*path, name), new) for new in others])
    for name in missing:
        report.wrong(f"missing key '{name}' of '{form}'", path, ())
    return not missing and not unknown


def _let(body: dict[str, Any], path: Path, report: Report) -> Expression:
    bound, inside = body["bind"], (*path, "$let", "bind")
    if not is_object(bound):
        report.wrong("'bind' takes an object of variables", inside, ())
        return Malformed(path)
    for name in bound:
        _check_variable(name, (*inside, name), report)
    bindings = _fields(bound, inside, report)
    return Let(path, bindings, parse(body["in"], (*path, "$let", "in"), report))


def _map(body: dict[str, Any], path: Path, report: Report) -> Expression:
    inside = (*path, "$map")
    if not isinstance(body["as"], str):
        report.wrong("'as' takes the name of a variable", (*inside, "as"), ())
        return Malformed(path)
    _check_variable(body["as"], (*inside, "as"), report)
    where = parse(body["where"], (*inside, "where"), report) if "where" in body else None
    return Map(
        path,
        parse(body["over"], (*inside, "over"), report),
        body["as"],
        where,
        parse(body["do"], (*inside, "do"), report),
    )


def _check_variable(name: str, path: Path, report: Report) -> None:
    if not name or "$" in name:
        report.wrong(f"'{name}' cannot be the name of a variable", path, ())
