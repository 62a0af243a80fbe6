"""Random scripts that ask for programs, and the programs with which the model answers.

Some of the programs are wrong, so that the model is asked again; what the functions in them print
says in which order they are called.
"""

import json
from random import Random
from typing import Any

from tests.oracle.model import Script

_FUNCTIONS = """\
f note(a: int) -> int:
    print("note", a)
    ret a + 1

f risky(a: int) -> int:
    print("risky", a)
    assert a < 3
    ret a

f large(a: int) -> bool:
    ret a > 1

f row(a: int) -> [int]:
    print("row", a)
    ret [a, a + 1]

f pick(a: string) -> string:
    ret $ #90 {a} $

f name(a: string, b: string = "x") -> string:
    print("name", a, b)
    ret a + b

f show(a: any) -> int:
    print("show", a)
    ret 1

f careful(a: int) -> int:
    print("careful", a)
    ret a * 2

"""
_OFFERED = "{note} {risky} {large} {row} {pick} {name} {show} {careful:approve}"
_TYPES = ("int", "[int]", "string", "bool")
_PROMPTS = 10
# Whole programs that are wrong besides those in which a part is.
_BROKEN = ('{"note": {"a": 1}', '{"note": {"a": 1}, "note": {"a": 2}}')


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.count = 0
        # Whether a part is still to be written that is wrong.
        self.is_spoilt = False

    def new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def program(
        self, type_: str, scope: dict[str, str], depth: int = 0, *, keeps_type: bool = False
    ) -> Any:
        """An expression of a type; of any type, for `any`. One that `keeps_type` is of it also
        where it is wrong.
        """
        if type_ == "any":
            if self.random.random() < 0.4:
                fields = {f"k{one}": self.program("int", scope, depth + 1) for one in range(2)}
                return self.random.choice((fields, {"$object": {"k": fields}}))
            type_ = self.random.choice(_TYPES)
        if self.is_spoilt and type_ in ("int", "[int]") and self.random.random() < 0.4:
            self.is_spoilt = False
            return self.wrong(type_, scope, depth, keeps_type=keeps_type)
        kind = self.random.random()
        known = [name for name, one in scope.items() if one == type_]
        if known and kind < 0.3:
            return {"$ref": self.random.choice(known)}
        if depth > 3 or (depth and kind < 0.4):
            return self.literal(type_)
        if kind < 0.52:
            return self.let(type_, scope, depth + 1, keeps_type=keeps_type)
        if kind < 0.62:
            test = self.program("bool", scope, depth + 1)
            then, other = (self.program(type_, scope, depth + 1, keeps_type=True) for _ in range(2))
            return {"$if": {"test": test, "then": then, "else": other}}
        return self.made(type_, scope, depth + 1)

    def literal(self, type_: str) -> Any:
        match type_:
            case "int":
                return self.random.randint(0, 4)
            case "bool":
                return self.random.random() < 0.5
            case "string":
                return self.random.choice(("a", "b c", ""))
            case _:
                return [self.random.randint(0, 4) for _ in range(self.random.randint(0, 3))]

    def made(self, type_: str, scope: dict[str, str], depth: int) -> Any:
        def part(wanted: str) -> Any:
            return self.program(wanted, scope, depth)

        match type_:
            case "int":
                names = ("note", "note", "note", "risky", "careful", "show")
                name = self.random.choice(names)
                return {name: {"a": part("any" if name == "show" else "int")}}
            case "bool":
                return {"large": {"a": part("int")}}
            case "string" if self.random.random() < 0.5:
                return {"pick": {"a": part("string")}}
            case "string":
                names = self.random.choice((("a",), ("a", "b"), ("b", "a")))
                return {"name": {one: part("string") for one in names}}
            case _:
                return self.list_made(scope, depth)

    def list_made(self, scope: dict[str, str], depth: int) -> Any:
        kind = self.random.random()
        if kind < 0.25:
            return {"row": {"a": self.program("int", scope, depth)}}
        if kind < 0.5:
            count = self.random.randint(1, 3)
            return [self.program("int", scope, depth, keeps_type=True) for _ in range(count)]
        name = self.new()
        inside = {**scope, name: "int"}
        over = self.program("[int]", scope, depth, keeps_type=True)
        mapped = {"over": over, "as": name}
        if self.random.random() < 0.5:
            mapped["where"] = self.program("bool", inside, depth)
        return {"$map": {**mapped, "do": self.program("int", inside, depth, keeps_type=True)}}

    def let(self, type_: str, scope: dict[str, str], depth: int, *, keeps_type: bool) -> Any:
        inside, bound = dict(scope), dict[str, Any]()
        for _ in range(self.random.randint(1, 3)):
            name, of = self.new(), self.random.choice(_TYPES)
            bound[name] = self.program(of, inside, depth, keeps_type=True)
            inside[name] = of
        names = list(bound)
        if self.random.random() < 0.5:
            self.random.shuffle(names)  # what one of them needs may be written below it
        body = self.program(type_, inside, depth, keeps_type=keeps_type)
        return {"$let": {"bind": {name: bound[name] for name in names}, "in": body}}

    def wrong(self, type_: str, scope: dict[str, str], depth: int, *, keeps_type: bool) -> Any:
        """A part that does not fit, each with a mistake of its own."""
        name = self.new()
        good = self.program("int", scope, depth + 1)
        ways: list[Any] = [
            {f"made_up_{name}": {"a": good}},
            {"note": {}},
            {"note": {"a": good, f"other_{name}": 1}},
            {"$ref": f"missing_{name}"},
        ]
        others: list[Any] = [
            [good] if type_ == "int" else self.program("bool", scope, depth + 1),
            {"k": 1, "l": good},
            None,
        ]
        return self.random.choice(ways if keeps_type else [*ways, *others])

    def replies(self, type_: str) -> list[str]:
        found: list[str] = []
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            self.is_spoilt = True
            found.append(json.dumps(self.program(type_, {})))
            self.is_spoilt = False
        if self.random.random() < 0.1:
            found.append(self.random.choice(_BROKEN))
        if found and self.random.random() < 0.2:
            found.append(found[-1])
        found += [json.dumps(self.program(type_, {})) for _ in range(self.random.randint(1, 3))]
        return found


def script(seed: int) -> tuple[str, Script]:
    """A script, and the replies to its prompts."""
    writer = _Writer(seed)
    text, replies = _FUNCTIONS, dict[int, list[str]]()
    for mark in range(1, _PROMPTS + 1):
        type_ = writer.random.choice((*_TYPES, "any"))
        replies[mark] = writer.replies(type_)
        asked = f"x{mark}: {type_} = program $ #{mark} {_OFFERED} $\n"
        if mark < _PROMPTS:
            text += f"try:\n    {asked}    print(x{mark})\nexcept error:\n    print(error.kind)\n"
        else:
            text += f"{asked}print(x{mark})\n"
    if writer.random.random() < 0.8:
        replies[90] = ["picked"]
    return text, replies
