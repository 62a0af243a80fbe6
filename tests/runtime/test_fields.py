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
from runtime_support._core.messages import Reply, Request
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
    scripted([name_call, bob, tool_request(NAME, value=[3]), age_call])
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
        prompt("?", fields=FIELDS, options={"max_repairs": 20})


@pytest.mark.parametrize("value", ["old", [30], None])
@pytest.mark.parametrize(
    ("options", "requests"), [(None, 2), ({"max_repairs": 0}, 1), ({"max_repairs": 3}, 4)]
)
@pytest.mark.parametrize("rounds", [None, 1])
def test_a_field_that_stays_wrong_is_asked_again_as_often_as_repairs_says(
    scripted: Script, value: Any, options: dict[str, Any] | None, requests: int, rounds: int | None
) -> None:
    model = scripted(*[[name_call, tool_request(AGE, value=value)]] * 20)
    with pytest.raises(ContractError, match="refused for age: value: expected int") as caught:
        prompt("?", fields=FIELDS, options=options, rounds=rounds)
    assert len(model.requests) == len(caught.value.attempts) == requests
    assert caught.value.values == {"name": "Alice"}


def test_a_wrong_field_beside_calls_of_tools_counts(scripted: Script) -> None:
    wrong = [tool_request("look_up", name="A"), tool_request(AGE, value="old")]
    model = scripted(*[wrong] * 20)
    with pytest.raises(ContractError, match="refused for age"):
        prompt("{look_up}", look_up=look_up, fields=FIELDS)
    assert len(model.requests) == 2


def test_fields_that_come_one_by_one_are_no_repair(scripted: Script) -> None:
    fields = {**FIELDS, "town": str}
    model = scripted(name_call, age_call, tool_request("__saft_return_town", value="Oslo"))
    result = prompt("?", fields=fields, options={"max_repairs": 0})
    assert result.value == ("Alice", 30, "Oslo")
    assert (len(model.requests), result.repairs) == (3, [])


def test_a_reply_that_hands_in_nothing_new_counts(scripted: Script) -> None:
    model = scripted(*[name_call] * 20)
    with pytest.raises(ContractError, match="not every field was handed in"):
        prompt("?", fields=FIELDS)
    assert len(model.requests) == 3


@pytest.mark.parametrize("rounds", [None, 1])
def test_when_all_fields_are_there_the_call_ends_whatever_else_is_asked_for(
    scripted: Script, rounds: int | None
) -> None:
    look = tool_request("look_up", name="A")
    before = [look] if rounds else [look] * 8
    model = scripted(*before, [name_call, age_call, look])
    result = prompt("{look_up}", look_up=look_up, fields=FIELDS, rounds=rounds)
    assert result.value == ("Alice", 30)
    assert len(result.tool_calls) == len(before) == len(model.requests) - 1
    assert result.repairs == ["not called, as nothing was missing: look_up"]
    assert [message["role"] for message in result.messages[-3:]] == ["assistant", "tool", "tool"]


def test_more_calls_than_allowed_do_not_matter_when_all_fields_are_there(scripted: Script) -> None:
    look = tool_request("look_up", name="A")
    scripted([look, name_call, look, age_call])
    options = {"max_tool_calls": 1}
    result = prompt("{look_up}", look_up=look_up, fields=FIELDS, options=options)
    assert (result.value, result.tool_calls) == (("Alice", 30), [])


def test_a_field_that_may_stay_away_is_not_left_out_by_a_limit(scripted: Script) -> None:
    """The model wanted to know more; nobody knows whether the field has a value."""
    look = tool_request("look_up", name="A")
    scripted(look, [name_call, look])
    with pytest.raises(ToolLimitError) as caught:
        prompt("{look_up}", look_up=look_up, fields={"name": str, "note": str | None}, rounds=1)
    assert 'arrived: name = "Alice"; never sent, and may be left out: note;' in str(caught.value)


def test_lists_and_objects_that_were_sent_as_text_are_read(scripted: Script) -> None:
    fields = {"numbers": list[int], "sizes": dict[str, int], "text": str | list[int]}
    scripted(
        [
            tool_request("__saft_return_numbers", value='[1, "2"]'),
            tool_request("__saft_return_sizes", value='{"a": 1}'),
            tool_request("__saft_return_text", value="[1]"),
        ]
    )
    assert prompt("?", fields=fields).value == ([1, 2], {"a": 1}, "[1]")


def test_all_that_is_wrong_with_a_field_is_told_at_once(scripted: Script) -> None:
    numbers = "__saft_return_numbers"
    model = scripted(tool_request(numbers, value=["x", 1, "y"]), tool_request(numbers, value=[1]))
    assert prompt("?", fields={"numbers": list[int]}).value == ([1],)
    told = 'error: value[0]: expected int, got string "x"; value[2]: expected int, got string "y"'
    assert model.requests[1].messages[-1]["content"] == told


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
    assert prompt("?", fields=FIELDS, options={"enforce_schema": "on"}).value == ("Alice", 30)
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
    result = prompt("?", fields=OPTIONAL, rounds=1, options={"max_repairs": 0})
    assert (result.value, result.repairs) == (("Alice", None), [])


def test_a_model_that_calls_nothing_is_reminded_before_all_is_nil(scripted: Script) -> None:
    model = scripted("the note is long", "done")
    assert prompt("?", fields={"note": str | None}).value == (None,)
    reminder = model.requests[1].messages[-1]["content"]
    assert reminder == "Still missing: note. Call __saft_return_note."


def test_what_was_sent_and_refused_does_not_stay_away(scripted: Script) -> None:
    scripted([name_call, tool_request("__saft_return_note", value=[3])], "done", "done")
    with pytest.raises(ContractError, match=r"note .value: expected string"):
        prompt("?", fields=OPTIONAL)
