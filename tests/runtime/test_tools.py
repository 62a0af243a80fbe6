"""Tools: how functions are described, called, answered and recorded."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict

import pytest

from runtime_support import CheckError, ContractError, ToolLimitError, configure, ops, prompt
from runtime_support._core.messages import Reply, ToolRequest
from runtime_support._core.tasks.waits import finish
from runtime_support._core.tools import LARGEST_RESULT, Tool, call_tool, function_tool
from runtime_support.programs import ambiguous, option
from runtime_support.testing import Scripted, tool_request
from tests.support.maps import LineMap

Script = Callable[..., Scripted]


def temperature(city: str) -> float:
    """Current temperature in a city."""
    return {"Oslo": 3.5, "Cairo": 30.0}[city]


class Size(TypedDict):
    width: int
    unit: str | None


def draw(
    size: Annotated[Size, "how large"],
    colour: Literal["red", "blue"] = "red",
    count: int = 1,
    bold: bool = False,
) -> str:
    return f"{size['width']} {colour} {count} {bold}"


def test_a_description_is_made_from_annotations_and_docs() -> None:
    assert function_tool("draw_it", draw).description() == {
        "type": "function",
        "function": {
            "name": "draw_it",
            "parameters": {
                "type": "object",
                "properties": {
                    "size": {
                        "type": "object",
                        "properties": {
                            "width": {"type": "integer"},
                            "unit": {"type": ["string", "null"]},
                        },
                        "required": ["width"],
                        "additionalProperties": False,
                        "description": "how large",
                    },
                    "colour": {"type": "string", "enum": ["red", "blue"]},
                    "count": {"type": "integer"},
                    "bold": {"type": "boolean"},
                },
                "required": ["size"],
                "additionalProperties": False,
            },
        },
    }


def test_bare_parameters_take_any_value() -> None:
    def join(a, b):  # type: ignore[no-untyped-def]
        return [a, b]

    description = function_tool("join", join).description()["function"]
    assert description["parameters"]["properties"] == {"a": {}, "b": {}}
    assert "description" not in description
    assert call(function_tool("join", join), '{"a": [1], "b": null}').result == "[[1],null]"


def test_a_function_that_takes_functions_cannot_be_a_tool() -> None:
    def apply(action: Callable[[], int]) -> int:
        return action()

    with pytest.raises(CheckError, match="`apply` cannot be a tool"):
        function_tool("apply", apply)


async def halved(number: int) -> float:
    """Half of a number."""
    await asyncio.sleep(0)
    if number < 0:
        raise ValueError("it is negative")
    return number / 2


def ask_for_halves() -> list[tuple[str | None, str | None]]:
    calls = [tool_request("halved", number=number) for number in (7, -1)]
    configure(provider=Scripted([calls, "Done."]))
    result = prompt("Use {halved}.", halved=halved)
    return [(one.result, one.error) for one in result.tool_calls]


def test_an_async_function_is_awaited() -> None:
    told: list[tuple[str | None, str | None]]
    told = [("3.5", None), (None, "ValueError: it is negative")]
    assert ask_for_halves() == told

    async def inside() -> None:
        assert ask_for_halves() == told

    asyncio.run(inside())
    tool = function_tool("halved", halved)
    assert tool.description()["function"]["description"] == "Half of a number."


def call(tool: Tool, arguments: str) -> Any:
    return finish(call_tool({tool.name: tool}, tool.name, arguments))


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        ('{"size": {"width": 3}}', "3 red 1 False"),
        ('{"size": {"width": "3"}, "count": "12"}', "3 red 12 False"),
        ('{"size": {"width": 3.0, "unit": null}, "bold": "true"}', "3 red 1 True"),
        ('{"size": {"width": 3}, "count": null, "colour": "blue"}', "3 blue 1 False"),
    ],
)
def test_numbers_and_bools_as_text_are_converted(arguments: str, result: str) -> None:
    made = call(function_tool("draw", draw), arguments)
    assert (made.result, made.error) == (result, None)
    assert made.duration >= 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"size": {"width": "wide"}}', 'args.size.width: expected int, got string "wide"'),
        ('{"size": {"width": 1.5}}', "expected int, got float 1.5"),
        ("{}", "args.size: missing field"),
        ('{"size": {"width": 1}, "color": "red"}', "args.color: unexpected field; did you mean"),
        ('{"size": ', "the arguments are not JSON"),
        ("[1]", "the arguments have to be an object"),
    ],
)
def test_invalid_arguments_are_told_not_called(arguments: str, said: str) -> None:
    made = call(function_tool("draw", draw), arguments)
    assert made.result is None
    assert said in made.error


def test_python_functions_of_every_kind_can_be_called() -> None:
    assert call(function_tool("root", math.sqrt), '{"x": 4}').result == "2.0"
    assert call(function_tool("max", ops.max), '{"items": [1, 3, 2]}').result == "3"
    assert call(function_tool("upper", ops.upper), '{"text": "a"}').result == "A"

    def keyword_only(*, a: int, **more: int) -> int:
        return a + sum(more.values())

    assert call(function_tool("k", keyword_only), '{"a": "1", "b": 2}').result == "3"


def test_the_tool_loop(scripted: Script) -> None:
    model = scripted(
        [tool_request("temperature", city="Oslo"), tool_request("temperature", city="Cairo")],
        "Cairo.",
    )
    result = prompt("Warmer in Oslo or Cairo? Use {temperature}.", temperature=temperature)
    assert result.value == "Cairo."
    assert [(c.tool, c.args, c.result, c.error) for c in result.tool_calls] == [
        ("temperature", {"city": "Oslo"}, "3.5", None),
        ("temperature", {"city": "Cairo"}, "30.0", None),
    ]
    first, second = model.requests
    assert first.tools == second.tools
    assert second.messages == (
        *first.messages,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call0000{number}",
                    "type": "function",
                    "function": {"name": "temperature", "arguments": f'{{"city": "{city}"}}'},
                }
                for number, city in ((1, "Oslo"), (2, "Cairo"))
            ],
        },
        {"role": "tool", "tool_call_id": "call00001", "content": "3.5"},
        {"role": "tool", "tool_call_id": "call00002", "content": "30.0"},
    )


def test_failures_are_answered_and_recorded_and_the_script_goes_on(scripted: Script) -> None:
    model = scripted(
        [
            tool_request("temperature", city="Atlantis"),
            tool_request("temprature", city="Oslo"),
            ToolRequest("temperature", '{"city": '),
        ],
        "unknown",
    )
    result = prompt("{temperature}?", temperature=temperature)
    errors = [call.error or "" for call in result.tool_calls]
    assert errors[0] == "KeyError: 'Atlantis'"
    assert errors[1] == "there is no tool `temprature`; did you mean `temperature`?"
    assert errors[2].startswith("the arguments are not JSON")
    assert [call.result for call in result.tool_calls] == [None] * 3
    answers = [m["content"] for m in model.requests[1].messages if m["role"] == "tool"]
    assert answers == [f"error: {error}" for error in errors]
    sent = model.requests[1].messages[1]["tool_calls"][2]["function"]["arguments"]
    assert sent == "{}", "servers fail on arguments that are not JSON"


def test_order_is_kept_over_rounds(scripted: Script) -> None:
    calls = [tool_request("temperature", city=city) for city in ("Oslo", "Cairo", "Oslo")]
    model = scripted(calls[0], calls[1], calls[2], "done")
    result = prompt("{temperature}", temperature=temperature)
    assert [call.args["city"] for call in result.tool_calls] == ["Oslo", "Cairo", "Oslo"]
    ids = [m["tool_call_id"] for m in model.requests[-1].messages if m["role"] == "tool"]
    assert ids == ["call00001", "call00002", "call00003"]


def test_a_tool_that_prompts_keeps_its_calls_to_itself(scripted: Script) -> None:
    def ask_again(city: str) -> str:
        return prompt("{temperature} of {city}", temperature=temperature, city=city).value

    scripted(
        tool_request("ask_again", city="Oslo"),
        tool_request("temperature", city="Oslo"),
        "inner",
        "outer",
    )
    result = prompt("{ask_again}", ask_again=ask_again)
    assert result.value == "outer"
    assert [(call.tool, call.result) for call in result.tool_calls] == [("ask_again", "inner")]


def test_typed_prompts_may_use_tools_and_repairs(scripted: Script) -> None:
    scripted(tool_request("temperature", city="Oslo"), "cold", "3.5")
    result = prompt("{temperature} in Oslo", temperature=temperature, returns=float)
    assert result.value == 3.5
    assert result.usage.requests == 3


def test_rounds_are_bounded(scripted: Script) -> None:
    model = scripted(*[tool_request("temperature", city="Oslo")] * 20)
    with pytest.raises(ToolLimitError, match="more than 8 rounds") as caught:
        prompt("{temperature}", temperature=temperature)
    assert len(model.requests) == 9
    assert len(caught.value.tool_calls) == 8
    assert "max_tool_rounds" in str(caught.value)


def test_calls_are_bounded_before_they_are_made(scripted: Script) -> None:
    ran: list[str] = []

    def note(text: str) -> str:
        ran.append(text)
        return text

    scripted([tool_request("note", text=str(n)) for n in range(5)])
    with pytest.raises(ToolLimitError, match="more than 4 tool calls"):
        prompt("{note}", note=note, options={"max_tool_calls": 4})
    assert ran == []


def test_a_do_prompt_has_one_round_and_then_must_answer(scripted: Script) -> None:
    model = scripted(tool_request("temperature", city="Oslo"), "3.5 degrees")
    assert prompt("{temperature}", temperature=temperature, rounds=1).value == "3.5 degrees"
    first, second = model.requests
    assert (first.must_answer, second.must_answer) == (False, True)
    assert first.tools == second.tools
    assert second.canonical()["tool_choice"] == "none"


def test_a_do_prompt_that_does_not_answer_is_an_error(scripted: Script) -> None:
    scripted(*[tool_request("temperature", city="Oslo")] * 3)
    with pytest.raises(ToolLimitError, match=r"called a tool after its last round \(1 allowed\)"):
        prompt("{temperature}", temperature=temperature, rounds=1)


@pytest.mark.parametrize("is_script", [True, False])
def test_the_way_out_is_told_in_the_words_of_the_program(scripted: Script, is_script: bool) -> None:
    scripted(*[tool_request("temperature", city="Oslo")] * 3)
    names: dict[str, Any] = {"prompt": prompt, "temperature": temperature}
    if is_script:
        names["__saft_source_map__"] = LineMap()
    call = "prompt('{temperature}', temperature=temperature, rounds=1)"
    with pytest.raises(ToolLimitError) as caught:
        exec(compile(call, "triage.py", "exec"), names)
    assert (caught.value.hint or "").startswith(
        "leave out `do` if" if is_script else "allow more `rounds` if"
    )


def test_calls_that_nobody_offered_are_answered(scripted: Script) -> None:
    scripted(tool_request("search", q="x"), "fine")
    result = prompt("hello")
    assert result.value == "fine"
    assert result.tool_calls[0].error == "there is no tool `search`; the tools are none"


def test_calls_where_no_tool_is_on_offer_are_repaired_as_often_as_other_replies(
    scripted: Script,
) -> None:
    model = scripted(*[tool_request("search", q="x")] * 9)
    with pytest.raises(ContractError, match="the reply calls search; no tool is on offer"):
        prompt("hello", options={"max_repairs": 2})
    assert len(model.requests) == 3


def test_a_cut_reply_with_calls_is_not_run(scripted: Script) -> None:
    from runtime_support import TruncatedReply

    scripted(Reply("", (ToolRequest("temperature", '{"city": "Os'),), "length"))
    with pytest.raises(TruncatedReply):
        prompt("{temperature}", temperature=temperature)


def test_what_a_closure_keeps_for_itself_is_no_parameter(scripted: Script) -> None:
    def lookup_in(table: dict[str, str]) -> Callable[..., str]:
        def lookup(key: str, _table: Any = table, *, _mark: str = "!") -> str:
            return _table[key] + _mark

        return lookup

    tool = function_tool("lookup", lookup_in({"a": "b"}))
    assert list(tool.description()["function"]["parameters"]["properties"]) == ["key"]
    assert call(tool, '{"key": "a"}').result == "b!"
    for argument in ("_table", "table"):
        refused = call(tool, f'{{"key": "a", "{argument}": {{"a": "c"}}}}')
        assert refused.error is not None and refused.result is None

    def needed(_key: str, *rest: str) -> str:
        return _key

    properties = function_tool("needed", needed).description()["function"]["parameters"]
    assert list(properties["properties"]) == ["_key", "rest"]


def test_a_private_parameter_that_others_come_behind_stays() -> None:
    def first(_a: int = 1, *rest: int) -> list[int]:
        return [_a, *rest]

    assert call(function_tool("first", first), '{"_a": 5, "rest": [6]}').result == "[5,6]"


def test_the_model_reads_no_secrets_in_what_a_tool_raised(
    scripted: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "hunter2hunter2")

    def connect() -> str:
        raise ConnectionError("postgres://app:hunter2hunter2@db with sk-abcdefghijklmnopqrstuvwx")

    model = scripted(tool_request("connect"), "sorry")
    result = prompt("{connect}", connect=connect)
    told = model.requests[1].messages[-1]["content"]
    assert told == "error: ConnectionError: postgres://app:[redacted]@db with [redacted]"
    assert result.tool_calls[0].error == told.removeprefix("error: ")


def test_a_result_that_is_too_large_is_not_sent(scripted: Script) -> None:
    def everything(times: int) -> str:
        return "x" * times

    model = scripted(
        tool_request("everything", times=LARGEST_RESULT),
        tool_request("everything", times=LARGEST_RESULT + 1),
        "enough",
    )
    calls = prompt("{everything}", everything=everything).tool_calls
    assert [call.error for call in calls] == [
        None,
        "the result has 4,000,001 characters, more than 4,000,000; ask for less of it",
    ]
    assert model.requests[2].messages[-1]["content"] == f"error: {calls[1].error}"


def test_what_the_model_calls_tools_cannot_steer_a_terminal(scripted: Script) -> None:
    scripted(*[tool_request("clear\x1b[2J", text="\x9b31m")] * 2)
    with pytest.raises(ToolLimitError) as caught:
        prompt("?", options={"max_tool_rounds": 1})
    assert "the last was clear" in str(caught.value) and "{text:" in str(caught.value)
    assert str(caught.value).isprintable()


def find(title: str, year: int | None = None) -> int:
    if title == "":
        ambiguous("no title.", [])
    if year is None:
        ambiguous(
            f"2 books are called {title}.",
            [
                option("the 1815 edition", year=1815),
                option("any of them", {"title": title}),
                option("a function", find),
            ],
        )
    return year


def test_a_choice_reaches_the_model_with_its_options(scripted: Script) -> None:
    model = scripted(
        tool_request("find", title="Emma"),
        tool_request("find", title=""),
        tool_request("find", title="Emma", year=1815),
        "1815",
    )
    result = prompt("{find}", find=find)
    answers = [request.messages[-1]["content"] for request in model.requests[1:]]
    assert answers == [
        "error: 2 books are called Emma; choose one of these:\n"
        '1. the 1815 edition: find {"title":"Emma","year":1815}\n'
        '2. any of them: {"title":"Emma"}\n'
        "3. a function",
        "error: no title.",
        "1815",
    ]
    assert result.tool_calls[0].result is None
    assert result.tool_calls[0].error == answers[0].removeprefix("error: ")
