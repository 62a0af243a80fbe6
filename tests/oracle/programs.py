"""Programs in the reference interpreter: JSON data that a model writes, checked and then run.

    Programs(functions, call).value({"note": {"a": 1}}, "int")

Types are written as scripts write them. What programs convert is not interpreted, and neither are
records of the script.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.values import Value

# What nothing makes of the other.
_APART = frozenset(
    (one, other)
    for one, other in (
        *(("bool", "[int]"), ("[int]", "int"), ("[string]", "int"), ("[bool]", "int")),
        *(("record", "int"), ("record", "[int]"), ("nil", "int"), ("nil", "[int]")),
    )
)


class Mistaken(Exception):
    """The program does not fit what it may call: nothing of it runs, and the model hears of it.

    The same words at another place are another mistake.
    """


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes and gives, and which of its parameters it has to be given."""

    parameters: Mapping[str, str]
    required: frozenset[str]
    result: str


@dataclass(slots=True)
class Programs:
    """The programs over some functions; `call` makes a call of one of them."""

    functions: Mapping[str, Signature]
    call: Callable[[str, dict[str, Value]], Value]
    # Where in the program it is looked at.
    path: list[str] = field(default_factory=list[str])

    def check(self, program: Any, wanted: str) -> None:
        """Mistaken when the program is not one, or its value is not of the type."""
        self.path = []
        try:
            self._part("", program, {}, wanted)
        except Mistaken as mistake:
            raise Mistaken(f"{mistake} at {'/'.join(self.path)}") from None

    def value(self, program: Any) -> Value:
        """The value of a program that was checked."""
        return self._value(program, {})

    def called(self, program: Any) -> Iterator[str]:
        """The functions that the program has calls of, also where they are never made."""
        if isinstance(program, list):
            for item in program:
                yield from self.called(item)
        elif isinstance(program, dict):
            if len(program) == 1:
                yield from self.functions.keys() & program.keys()
            for item in program.values():
                yield from self.called(item)

    # What it is

    def _part(self, key: object, node: Any, scope: dict[str, str], wanted: str = "any") -> str:
        """The type of a part, which has to be of the type that is wanted."""
        self.path.append(str(key))
        found = self._type_of(node, scope, wanted)
        _assign(found, wanted)
        self.path.pop()
        return found

    def _type_of(self, node: Any, scope: dict[str, str], wanted: str = "any") -> str:
        """The type of an expression; `wanted` is that of its place."""
        match node:
            case None:
                return "nil"
            case bool():
                return "bool"
            case int():
                return "int"
            case str():
                return "string"
            case list():
                return _list_of([self._part(at, item, scope) for at, item in enumerate(node)])
            case {"$ref": name, **more} if not more:
                if name not in scope:
                    raise Mistaken(f"no variable {name}")
                return scope[name]
            case {"$let": {"bind": bound, "in": body}, **more} if not more:
                inside = dict(scope)
                for name in _in_order(bound):
                    inside[name] = self._part(name, bound[name], inside)
                return self._part("in", body, inside, wanted)
            case {"$map": {"over": over, "as": name, "do": body, **rest}, **more} if not more:
                items = self._part("over", over, scope)
                if not items.startswith("["):
                    raise NotImplementedError("a map over what is not a list")
                inside = {**scope, name: items[1:-1] or "never"}
                if "where" in rest:
                    self._part("where", rest["where"], inside, "bool")
                return f"[{self._part('do', body, inside)}]"
            case {"$if": {"test": test, "then": then, "else": other}, **more} if not more:
                self._part("test", test, scope, "bool")
                found = self._part("then", then, scope, wanted)
                another = self._part("else", other, scope, wanted)
                if found == another or (another == "[]" and found.startswith("[")):
                    return found
                if found == "[]" and another.startswith("["):
                    return another
                if wanted == "any":
                    raise NotImplementedError("branches of two types")
                return wanted
            case {"$object": dict(fields), **more} if not more:
                return self._record(fields, scope)
            case dict() if len(node) == 1:
                return self._call_type(*next(iter(node.items())), scope)
            case dict():
                return self._record(node, scope)
            case _:
                raise NotImplementedError(f"{node!r} in a program")

    def _record(self, fields: dict[str, Any], scope: dict[str, str]) -> str:
        for name, one in fields.items():
            self._part(name, one, scope)
        return "record"

    def _call_type(self, name: str, given: Any, scope: dict[str, str]) -> str:
        function = self.functions.get(name)
        if function is None:
            raise Mistaken(f"no function {name}")
        if not isinstance(given, dict):
            raise NotImplementedError("an argument without its name")
        for one, value in given.items():
            if one not in function.parameters:
                raise Mistaken(f"no parameter {one}")
            self._part(f"{name}/{one}", value, scope, function.parameters[one])
        if missing := function.required - given.keys():
            raise Mistaken(f"no {', '.join(sorted(missing))}")
        return function.result

    # What it gives

    def _value(self, node: Any, scope: dict[str, Value]) -> Value:
        match node:
            case list():
                return [self._value(item, scope) for item in node]
            case {"$ref": name}:
                return scope[name]
            case {"$let": {"bind": bound, "in": body}}:
                inside = dict(scope)
                for name in _in_order(bound):
                    inside[name] = self._value(bound[name], inside)
                return self._value(body, inside)
            case {"$map": {"over": over, "as": name, "do": body, **rest}}:
                found: list[Value] = []
                for item in self._value(over, scope):
                    inside = {**scope, name: item}
                    if self._value(rest.get("where", True), inside):
                        found.append(self._value(body, inside))
                return found
            case {"$if": {"test": test, "then": then, "else": other}}:
                return self._value(then if self._value(test, scope) else other, scope)
            case {"$object": fields}:
                return {one: self._value(value, scope) for one, value in fields.items()}
            case dict() if len(node) == 1:
                name, given = next(iter(node.items()))
                return self.call(name, {one: self._value(g, scope) for one, g in given.items()})
            case dict():
                return {one: self._value(value, scope) for one, value in node.items()}
            case _:
                return node


def _in_order(bound: dict[str, Any]) -> list[str]:
    """The variables of a `$let`: before each of them, what it needs."""
    found: list[str] = []

    def add(name: str) -> None:
        if name not in found:
            for other in _references(bound[name]):
                if other in bound:
                    add(other)
            found.append(name)

    for name in bound:
        add(name)
    return found


def _references(node: Any) -> Iterator[str]:
    match node:
        case {"$ref": str(name)}:
            yield name
        case dict():
            for one in node.values():
                yield from _references(one)
        case list():
            for one in node:
                yield from _references(one)
        case _:
            pass


def _list_of(types: list[str]) -> str:
    kinds = dict.fromkeys(types)
    if len(kinds) > 1:
        return "[any]"
    return f"[{next(iter(kinds), '')}]"


def _assign(found: str, wanted: str) -> None:
    """Mistaken where a value of one type never is one of the other."""
    if found == wanted or wanted == "any" or found == "never":
        return
    if found == "[]" and wanted.startswith("["):
        return
    if (found, wanted) in _APART:
        raise Mistaken(f"{found} where {wanted} is asked for")
    raise NotImplementedError(f"a program that makes {wanted} of {found}")
