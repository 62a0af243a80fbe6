"""Destructuring: several named values, each handed in by a return tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest

from runtime_support import (
    CheckError,
    ContractError,
    ToolLimitError,
    ToolsUnsupported,
    configure,
    prompt,
)
from runtime_support._exchange import Reply, Request
from runtime_support.testing import Scripted, tool_request

Script = Callable[..., Scripted]

NAME, AGE = "__saft_return_name", "__saft_return_age"
FIELDS: dict[str, Any] = {"name": str, "age": Annotated[int, "in years"]}

name_call = tool_request(NAME, value="Alice")
age_call = tool_request(AGE, value=30)


def look_up(name: str) -> str:
    return f"{name} is 30"


def test_one_tool_for_each_field(scripted: Script) -> None:
    model = scripted([name_call, age_call])
    result = prompt("Get info for {0}", "Alice", fields=FIELDS)
    assert result.value == ("Alice", 30)
    (request,) = model.requests
    assert request.messages[0]["content"] == (
        'Get info for "Alice"\n\n'
        "Answer by calling each of these tools once, with the value: "
        "__saft_return_name, __saft_return_age."
    )
    assert request.tools[1] == {
        "type": "function",
        "function": {
            "name": AGE,
            "description": "in years",
            "parameters": {
                "type": "object",
                "properties": {"value": {"type": "integer", "description": "in years"}},
                "required": ["value"],
                "additionalProperties": False,
            },
        },
    }
    assert request.schema is None


def test_return_tools_never_show_in_the_history(scripted: Script) -> None:
    scripted([name_call, tool_request("look_up", name="Alice")], age_call)
    result = prompt("{look_up}", look_up=look_up, fields=FIELDS)
    assert [call.tool for call in result.tool_calls] == ["look_up"]
    name, age = result.fields
    assert (name.value, age.value) == ("Alice", 30)
    assert name.tool_calls is age.tool_calls is result.tool_calls
    assert name.usage == result.usage


def test_calls_may_come_in_any_order_over_several_rounds(scripted: Script) -> None:
    model = scripted(age_call, tool_request("look_up", name="A"), name_call)
    assert prompt("{look_up}", look_up=look_up, fields=FIELDS).value == ("Alice", 30)
    assert len(model.requests) == 3
    answer = model.requests[1].messages[-1]["content"]
    assert answer == "kept; still missing: __saft_return_name"


def test_an_invalid_value_is_answered_and_others_stay(scripted: Script) -> None:
    model = scripted([name_call, tool_request(AGE, value="old")], age_call)
    assert prompt("?", fields=FIELDS).value == ("Alice", 30)
    answers = [m["content"] for m in model.requests[1].messages if m["role"] == "tool"]
    assert answers == [
        "kept; still missing: __saft_return_age",
        'error: value: expected int, got string "old"',
    ]


def test_a_number_as_text_is_converted(scripted: Script) -> None:
    scripted([name_call, tool_request(AGE, value="30")])
    assert prompt("?", fields=FIELDS).value == ("Alice", 30)


def test_of_a_field_sent_twice_the_later_valid_value_counts(scripted: Script) -> None:
    bob = tool_request(NAME, value="Bob")
    scripted([name_call, bob, tool_request(NAME, value=3), age_call])
    assert prompt("?", fields=FIELDS).value == ("Bob", 30)


def test_a_reply_without_calls_is_told_what_is_missing(scripted: Script) -> None:
    model = scripted(name_call, "Alice is thirty", age_call)
    result = prompt("?", fields=FIELDS)
    assert result.value == ("Alice", 30)
    assert result.repairs == ["asked again: the reply calls no tool"]
    *_, said, reminder = model.requests[2].messages
    assert said == {"role": "assistant", "content": "Alice is thirty"}
    assert reminder["content"] == "Still missing: age. Call __saft_return_age."


def test_an_object_as_text_is_accepted(scripted: Script) -> None:
    scripted('{"name": "Alice", "age": 30}')
    result = prompt("?", fields=FIELDS)
    assert result.value == ("Alice", 30)
    assert result.repairs == ["taken from a JSON object in the text: name, age"]


def test_of_a_half_object_the_valid_half_is_kept(scripted: Script) -> None:
    model = scripted('{"name": "Alice", "age": "old"}', age_call)
    assert prompt("?", fields=FIELDS).value == ("Alice", 30)
    assert "Still missing: age (age: expected int, " in model.requests[1].messages[-1]["content"]


def test_the_call_ends_without_a_further_request(scripted: Script) -> None:
    model = scripted([name_call, age_call, tool_request("look_up", name="x")], "never")
    result = prompt("{look_up}", look_up=look_up, fields=FIELDS)
    assert len(model.requests) == 1
    assert len(result.tool_calls) == 1


def test_a_hopeless_model_gets_an_error_that_lists_everything(scripted: Script) -> None:
    scripted([name_call, tool_request(AGE, value="old")], "no", "no")
    with pytest.raises(ContractError) as caught:
        prompt("?", fields=FIELDS)
    said = str(caught.value)
    assert 'arrived: name = "Alice"' in said
    assert 'missing: age (value: expected int, got string "old")' in said
    assert caught.value.values == {"name": "Alice"}


def test_rounds_are_bounded(scripted: Script) -> None:
    scripted(*[tool_request(AGE, value="old")] * 20)
    with pytest.raises(ToolLimitError, match=r"missing: name .never sent., age .value: expected"):
        prompt("?", fields=FIELDS)


def test_do_bounds_ordinary_tools_to_one_round_but_not_return_tools(scripted: Script) -> None:
    model = scripted(tool_request("look_up", name="A"), [name_call, age_call])
    assert prompt("{look_up}", look_up=look_up, fields=FIELDS, rounds=1).value == ("Alice", 30)
    offered = [[tool["function"]["name"] for tool in r.tools] for r in model.requests]
    assert offered == [["look_up", NAME, AGE], [NAME, AGE]]
    assert not model.requests[1].must_answer


def test_do_asks_for_open_fields_as_often_as_repairs_says(scripted: Script) -> None:
    model = scripted(name_call, name_call, age_call)
    with pytest.raises(ContractError, match="not every field"):
        prompt("?", fields=FIELDS, rounds=1)
    assert len(model.requests) == 2
    scripted(name_call, age_call)
    result = prompt("?", fields=FIELDS, rounds=1)
    assert result.value == ("Alice", 30)
    assert result.repairs == ["asked again: not every field was handed in"]


def test_do_refuses_a_second_round_of_ordinary_tools(scripted: Script) -> None:
    scripted(*[tool_request("look_up", name="A")] * 3)
    with pytest.raises(ToolLimitError, match="missing: name"):
        prompt("{look_up}", look_up=look_up, fields=FIELDS, rounds=1)


def test_structured_on_asks_for_one_object(scripted: Script) -> None:
    model = scripted('{"name": "Alice", "age": 30}')
    assert prompt("?", fields=FIELDS, options={"structured": "on"}).value == ("Alice", 30)
    assert model.requests[0].tools == ()
    assert model.requests[0].schema is not None


class _WithoutTools(Scripted):
    def complete(self, request: Request) -> Reply:
        if request.tools:
            raise ToolsUnsupported("no tools here")
        return super().complete(request)


def test_a_provider_without_tools_is_asked_for_one_object() -> None:
    configure(provider=_WithoutTools(['{"name": "Alice", "age": 30}']))
    result = prompt("?", fields=FIELDS)
    assert result.value == ("Alice", 30)
    assert result.repairs == ["asked for the fields as one JSON object: no tools there"]


def test_a_provider_without_tools_cannot_do_with_ordinary_ones() -> None:
    configure(provider=_WithoutTools(["{}"]))
    with pytest.raises(ToolsUnsupported, match="no tools here"):
        prompt("{look_up}", look_up=look_up, fields=FIELDS)


def test_fields_must_be_named(scripted: Script) -> None:
    scripted()
    with pytest.raises(CheckError, match="names no field"):
        prompt("?", fields={})
    with pytest.raises(CheckError, match="too long"):
        prompt("?", fields={"f" * 60: int})


def test_a_tool_cannot_have_the_name_of_a_return_tool(scripted: Script) -> None:
    def __saft_return_name() -> str:
        return "never called"

    model = scripted()
    with pytest.raises(CheckError, match="`__saft_return_name` is a tool by which"):
        prompt("{__saft_return_name}", fields=FIELDS, **{"__saft_return_name": __saft_return_name})
    assert model.requests == []


@pytest.mark.parametrize("fields", [["name"], {1: int}, "name"])
def test_fields_are_types_by_name(scripted: Script, fields: Any) -> None:
    scripted()
    with pytest.raises(CheckError, match="fields"):
        prompt("?", fields=fields)


OPTIONAL: dict[str, Any] = {"name": str, "note": str | None}


def test_a_field_that_takes_nil_may_stay_away(scripted: Script) -> None:
    model = scripted(name_call, "done")
    result = prompt("?", fields=OPTIONAL)
    assert result.value == ("Alice", None)
    assert result.repairs == []
    asked = model.requests[0].messages[0]["content"]
    assert asked.endswith(
        "with the value: __saft_return_name, __saft_return_note. "
        "What has no value may be left out: __saft_return_note."
    )
    answer = model.requests[1].messages[-1]["content"]
    assert answer == "kept; may be left out: __saft_return_note"


def test_a_field_that_takes_nil_may_be_handed_in(scripted: Script) -> None:
    note = tool_request("__saft_return_note", value="tall")
    scripted([name_call, note])
    assert prompt("?", fields=OPTIONAL).value == ("Alice", "tall")
    scripted(name_call, note)
    assert prompt("?", fields=OPTIONAL, rounds=1).value == ("Alice", "tall")


def test_do_may_leave_open_what_takes_nil(scripted: Script) -> None:
    scripted(name_call, "")
    result = prompt("?", fields=OPTIONAL, rounds=1, options={"repairs": 0})
    assert (result.value, result.repairs) == (("Alice", None), [])


def test_a_model_that_calls_nothing_is_reminded_before_all_is_nil(scripted: Script) -> None:
    model = scripted("the note is long", "done")
    assert prompt("?", fields={"note": str | None}).value == (None,)
    reminder = model.requests[1].messages[-1]["content"]
    assert reminder == "Still missing: note. Call __saft_return_note."


def test_what_was_sent_and_refused_does_not_stay_away(scripted: Script) -> None:
    scripted([name_call, tool_request("__saft_return_note", value=3)], "done", "done")
    with pytest.raises(ContractError, match=r"note .value: expected string"):
        prompt("?", fields=OPTIONAL)
