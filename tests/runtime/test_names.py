"""Names that Python forces on a script, and functions whose results keep a history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from runtime_support import CheckError, MissingError, check, ops, prompt
from runtime_support._core.results import Result, Usage
from runtime_support._core.tools import function_tool
from runtime_support._schema.checking import decode
from runtime_support._schema.reading import schema_of
from runtime_support._schema.writing import json_schema, notation
from runtime_support.ops import show, to_json
from runtime_support.testing import Scripted, tool_request

Script = Callable[..., Scripted]


@dataclass(frozen=True)
class Pupil:
    class_: Annotated[str, "the class, as `3b`"]
    size: float = 1.0
    list_: int = 0


def enrol(class_: str, from_: int = 1) -> list[Any]:
    """Enrols a class."""
    return [class_, from_]


def test_a_field_is_known_without_the_underscore(scripted: Script) -> None:
    pupil = Pupil("3b")
    assert ops.member(pupil, "class") == "3b"
    assert show(pupil) == 'Pupil(class: "3b", size: 1.0, list_: 0)'
    assert to_json(pupil) == '{"class":"3b","size":1.0,"list_":0}'
    with pytest.raises(MissingError, match="its fields are class, size, list_"):
        ops.member(pupil, "klass")

    schema = schema_of(Pupil)
    assert notation(schema).splitlines()[1] == "  class: string, // the class, as `3b`"
    assert list(json_schema(schema)["properties"]) == ["class", "size", "list_"]
    assert decode({"class": "3b", "size": 2}, schema) == Pupil("3b", 2.0)
    with pytest.raises(CheckError, match=r"value\.class_: unexpected field"):
        decode({"class_": "3b"}, schema)
    assert check(Pupil("3b", 2), Pupil).size.is_integer()
    with pytest.raises(CheckError, match=r"value\.class: expected string"):
        check(Pupil(3), Pupil)  # type: ignore[arg-type]

    model = scripted('{"class": "3b"}')
    assert prompt("which?", returns=Pupil).value == pupil
    assert "  class: string," in model.requests[0].messages[0]["content"]
    assert "class_" not in str(model.requests[0].schema)


def test_a_parameter_is_known_without_the_underscore(scripted: Script) -> None:
    tool = function_tool("enrol", enrol)
    parameters = tool.description()["function"]["parameters"]
    assert list(parameters["properties"]) == ["class", "from"]
    assert parameters["required"] == ["class"]
    scripted(tool_request("enrol", **{"class": "3b", "from": "2"}), "done")
    (call,) = prompt("{enrol}", enrol=enrol).tool_calls
    assert (call.args, call.result) == ({"class": "3b", "from": "2"}, '["3b",2]')


def test_a_call_finds_a_parameter_under_either_name() -> None:
    def made(class_: int, list_: int) -> list[int]:
        return [class_, list_]

    assert ops.call(made, class_=1, list=2) == [1, 2]
    assert ops.call(made, **{"class": 1, "list_": 2}) == [1, 2]
    assert ops.call(Pupil, **{"class": "3b"}, size=2) == Pupil("3b", 2.0)
    with pytest.raises(CheckError, match="needs list"):
        ops.call(made, 1)
    with pytest.raises(CheckError, match="got `class` twice"):
        ops.call(made, 1, class_=2)
    with pytest.raises(CheckError, match="`made` has no parameter `clas`; did you mean `class`"):
        ops.call(made, 1, 2, clas=2)

    def both(id: int, id_: int) -> list[int]:
        return [id, id_]

    assert ops.call(both, id=1, id_=2) == [1, 2]
    described = function_tool("both", both).description()["function"]["parameters"]
    assert list(described["properties"]) == ["id", "id_"]


def test_a_call_knows_how_python_takes_each_parameter() -> None:
    def rest(first: int, *others: int, last: int = 0) -> list[int]:
        return [first, *others, last]

    assert ops.call(rest, 1, 2, 3) == [1, 2, 3, 0]
    assert ops.call(rest, 1, last=4) == [1, 4]

    def by_position(x: int, /) -> int:
        return x

    assert ops.call(by_position, 1) == 1
    with pytest.raises(CheckError, match="takes `x` by position"):
        ops.call(by_position, x=1)


def test_a_function_may_return_a_result(scripted: Script) -> None:
    def ask(city: str) -> Result[str]:
        return prompt("how is {city}?", city=city)

    scripted("cold")
    assert ops.call(ask, "Oslo") == "cold"
    scripted(tool_request("ask", city="Oslo"), "cold", "it is cold")
    (call,) = prompt("{ask}", ask=ask).tool_calls
    assert call.result == "cold"


def test_inside_other_values_a_result_counts_as_its_value() -> None:
    def result(value: Any) -> Result[Any]:
        return Result(value, text="", tool_calls=[], usage=Usage(), model="", repairs=[])

    assert ops.join([result("a"), "b"], result(" ")) == "a b"
    assert ops.sum([result(1), 2]) == 3
    assert ops.sorted([result(2), 1], result(True)) == [2, 1]
    assert ops.max(result(2), 1) == 2
    assert ops.eq([result(1)], [1.0])
    assert ops.is_in(1, [result(1)])
    assert ops.item(result((1, 2)), 1) == 2
    ((a, (b, c)),) = ops.each_of([(result(1), result((2, 3)))], ("a", ("b", "c")))
    assert (a.value, b, c) == (1, 2, 3)
    assert ops.call(ops.round, result(2.4)) == 2
    assert check([result(1)], list[int]) == [1]
    assert show({"a": result("x")}) == '{a: "x"}'
