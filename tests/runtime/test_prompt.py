"""`prompt` from request to value, with replies that are known."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

import pytest

from runtime_support import (
    CheckError,
    ContractError,
    Refused,
    Result,
    TruncatedReply,
    Usage,
    configure,
    prompt,
)
from runtime_support._core.messages import Reply
from runtime_support._core.question import Question, first_request
from runtime_support._core.templates import Unknown
from runtime_support.testing import Scripted, tool_request

Script = Callable[..., Scripted]


@dataclass(frozen=True)
class Ticket:
    """One ticket."""

    title: Annotated[str, "at most eight words"]
    severity: Literal["low", "high"]
    reply_by: str | None = None


def test_text_is_taken_as_it_is(scripted: Script) -> None:
    model = scripted(Reply("  Hello! \n", model="m-1", input_tokens=5, output_tokens=2))
    result = prompt("say hello")
    assert result.value == result.text == "  Hello! \n"
    assert result.model == "m-1"
    assert result.usage == Usage(5, 2, 1)
    assert result.tool_calls == result.repairs == []
    (request,) = model.requests
    assert request.canonical() == {"messages": [{"role": "user", "content": "say hello"}]}


def test_a_typed_prompt_states_its_contract_and_reads_json(scripted: Script) -> None:
    model = scripted('{"title": "Fire", "severity": "high"}')
    result = prompt("read {mail}", mail="fire!", returns=Ticket)
    assert result.value == Ticket("Fire", "high", None)
    (request,) = model.requests
    assert request.messages[0]["content"] == (
        'read "fire!"\n\n'
        "Reply with JSON only, no other text, of this form (`T?` is T or null):\n"
        "{\n"
        "  title: string, // at most eight words\n"
        '  severity: "low" | "high",\n'
        "  reply_by: string?,\n"
        "}"
    )
    assert request.schema is not None
    assert request.schema["required"] == ["title", "severity", "reply_by"]
    assert request.is_strict


@pytest.mark.parametrize(
    ("type_", "reply", "value"),
    [
        (int, "7", 7),
        (float, "7", 7.0),
        (bool, "true", True),
        (Any, '[{"a": 1}]', [{"a": 1}]),
        (list[str], '["a"]', ["a"]),
        (tuple[int, str], '[1, "a"]', (1, "a")),
        (int | None, "null", None),
        (Literal["a", "b"], '"b"', "b"),
        (dict[str, int], '{"x": 1}', {"x": 1}),
        (int, "<think>3? no</think>\n7", 7),
    ],
)
def test_typed_values(scripted: Script, type_: Any, reply: str, value: Any) -> None:
    scripted(reply)
    result = prompt("?", returns=type_).value
    assert result == value
    assert type(result) is type(value)


def test_a_reply_that_does_not_fit_is_told_why_once(scripted: Script) -> None:
    model = scripted('[1, "x"]', "[1, 2]")
    result = prompt("two numbers", returns=list[int])
    assert result.value == [1, 2]
    assert result.usage.requests == 2
    assert len(result.repairs) == 1
    assert "value[1]" in result.repairs[0]
    first, second = model.requests
    assert second.messages[:1] == first.messages
    assert second.messages[1] == {"role": "assistant", "content": '[1, "x"]'}
    assert second.messages[2]["role"] == "user"
    assert "value[1]" in second.messages[2]["content"]
    assert "of this form" not in second.messages[2]["content"]


def test_after_the_repairs_it_is_an_error_with_every_attempt(scripted: Script) -> None:
    scripted("no idea", "still none", "7")
    with pytest.raises(ContractError) as caught:
        prompt("a number", returns=int)
    assert [text for text, _ in caught.value.attempts] == ["no idea", "still none"]
    assert "after 2 tries" in str(caught.value)
    assert "still none" in str(caught.value)


@pytest.mark.parametrize(("repairs", "requests"), [(0, 1), (2, 3)])
def test_repairs_is_an_option(scripted: Script, repairs: int, requests: int) -> None:
    model = scripted(*["no"] * 5)
    with pytest.raises(ContractError):
        prompt("a number", returns=int, options={"max_repairs": repairs})
    assert len(model.requests) == requests


def test_no_two_requests_of_a_call_are_the_same(scripted: Script) -> None:
    model = scripted(*["no"] * 5)
    with pytest.raises(ContractError):
        prompt("a number", returns=int, options={"max_repairs": 3})
    assert len({str(request.canonical()) for request in model.requests}) == 4


def test_an_empty_reply_is_asked_again(scripted: Script) -> None:
    model = scripted(" ", "hello")
    assert prompt("hi").value == "hello"
    assert "empty" in model.requests[1].messages[-1]["content"]


def test_recovered_replies_are_noted(scripted: Script) -> None:
    scripted("Sure!\n```json\n[1, 2,]\n```")
    result = prompt("numbers", returns=list[int])
    assert result.value == [1, 2]
    assert result.repairs


def test_a_key_that_stands_twice_is_asked_again(scripted: Script) -> None:
    twice = '{"title": "a", "severity": "low", "title": "b"}'
    scripted(twice, '{"title": "b", "severity": "low"}')
    result = prompt("ticket", returns=Ticket)
    assert result.value.title == "b"
    assert result.repairs == ["asked again: an object has the key `title` twice"]


def test_a_cut_reply_is_never_completed_by_guess(scripted: Script) -> None:
    scripted(Reply("[1, 2", finish="length"))
    with pytest.raises(TruncatedReply, match="max_tokens") as caught:
        prompt("numbers", returns=list[int])
    assert caught.value.text == "[1, 2"


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_cut_text_is_an_error(scripted: Script, finish: str) -> None:
    scripted(Reply("once upon", finish=finish))
    with pytest.raises(TruncatedReply) as caught:
        prompt("a story")
    assert caught.value.text == caught.value.reply == "once upon"
    assert str(caught.value) == (
        'the reply was cut by the token limit after "once upon"; raise `max_tokens`, or ask for '
        'less; `on_truncated: "accept"` accepts the cut text'
    )


def test_cut_text_is_taken_where_the_script_says_so(scripted: Script) -> None:
    scripted(*[Reply("once upon", finish="max_tokens")] * 3)
    result = prompt("a story", options={"on_truncated": "accept"})
    assert (result.value, result.finish) == ("once upon", "length")
    assert result.repairs == ["the text was cut by the token limit"]
    with configure(on_truncated="accept"):
        assert prompt("a story").finish == "length"
        with pytest.raises(TruncatedReply):
            prompt("a story", options={"on_truncated": "error"})


@pytest.mark.parametrize("type_", [str | None, int | str, list[int], Any, bool])
def test_what_is_not_text_is_never_taken_when_it_was_cut(scripted: Script, type_: Any) -> None:
    scripted(Reply("12", finish="length"))
    with pytest.raises(TruncatedReply) as caught:
        prompt("?", returns=type_, options={"on_truncated": "accept"})
    assert "allow" not in str(caught.value)


def test_a_reply_that_was_cut_before_its_text(scripted: Script) -> None:
    scripted(*[Reply("", finish="length")] * 2)
    with pytest.raises(TruncatedReply, match="cut by the token limit before it had any text"):
        prompt("a story")
    with pytest.raises(ContractError, match="the reply is empty"):
        prompt("a story", options={"on_truncated": "accept", "max_repairs": 0})


@pytest.mark.parametrize(
    ("finish", "known"),
    [
        ("stop", "stop"),
        ("end_turn", "stop"),
        ("eos", "stop"),
        ("tool_use", "tool_calls"),
        ("x", "x"),
    ],
)
def test_a_result_tells_how_the_reply_ended(scripted: Script, finish: str, known: str) -> None:
    scripted(*[Reply("hello", finish=finish)] * 2)
    result = prompt("?")
    assert (result.value, result.finish) == ("hello", known)
    assert result.repairs == (['the reply ended with "x"'] if finish == "x" else [])
    assert pickle.loads(pickle.dumps(result)).finish == known
    assert (
        Result("x", text="x", tool_calls=[], usage=result.usage, model="", repairs=[]).finish
        == "stop"
    )


def test_each_field_tells_how_the_reply_ended(scripted: Script) -> None:
    scripted(tool_request("__saft_return_name", value="Ada"))
    result = prompt("?", fields={"name": str})
    assert (result.finish, result.fields[0].finish) == ("tool_calls", "tool_calls")


@pytest.mark.parametrize("finish", ["safety", "SAFETY", "sensitive", "recitation"])
def test_what_other_servers_call_a_refusal_is_one(scripted: Script, finish: str) -> None:
    scripted(Reply("half a sent", finish=finish))
    with pytest.raises(Refused) as caught:
        prompt("?")
    assert caught.value.text == "half a sent"


@pytest.mark.parametrize("finish", ["refusal", "content_filter"])
def test_a_refusal_is_an_error_of_its_own(scripted: Script, finish: str) -> None:
    scripted(Reply("I cannot help with that.", finish=finish))
    with pytest.raises(Refused, match="I cannot help") as caught:
        prompt("numbers", returns=int)
    assert caught.value.text == "I cannot help with that."


def test_an_unknown_finish_reason_is_no_obstacle(scripted: Script) -> None:
    scripted(Reply("7", finish="because"))
    result = prompt("?", returns=int)
    assert (result.value, result.finish) == (7, "because")
    assert result.repairs == ['the reply ended with "because"']


def test_options_reach_the_request(scripted: Script) -> None:
    model = scripted("hi", max_tokens=9)
    options = {"temperature": 0, "system": "be brief", "model": "big", "stop": ["x"], "seed": 1}
    prompt("hello", options={**options, "extra_body": {"top_k": 1}})
    (request,) = model.requests
    assert request.model == "big"
    assert request.messages[0] == {"role": "system", "content": "be brief"}
    assert dict(request.options) == {
        "temperature": 0.0,
        "max_tokens": 9,
        "seed": 1,
        "stop": ["x"],
        "extra_body": {"top_k": 1},
    }


def test_structured_off_sends_no_schema(scripted: Script) -> None:
    model = scripted("1", "1")
    prompt("?", returns=int, options={"enforce_schema": "off"})
    prompt("?", returns=int, options={"enforce_schema": "on"})
    assert model.requests[0].schema is None
    assert model.requests[1].schema == {"type": "integer"}
    assert model.requests[1].enforce_schema == "on"


def test_json_in_text_is_data(scripted: Script) -> None:
    scripted('{"name": "Ada"}', "[1", "plain")
    assert prompt("?").data == {"name": "Ada"}
    assert prompt("?").data == "[1"
    assert prompt("?").data == "plain"


def test_a_result_cannot_be_iterated(scripted: Script) -> None:
    scripted("abc")
    result = prompt("?")
    assert str(result) == "abc"
    with pytest.raises(CheckError, match="cannot iterate over a result"):
        list(result)


def test_a_type_without_json_form_is_an_error_before_any_request(scripted: Script) -> None:
    model = scripted("1")
    with pytest.raises(CheckError, match="no JSON form"):
        prompt("?", returns=Callable[[], int])
    assert model.requests == []


def test_the_first_request_can_be_had_without_a_model(scripted: Script) -> None:
    model = scripted('{"title": "a", "severity": "low"}')
    options = {"temperature": 0}
    request = first_request(Question("read {0}", ("x",), {}, Ticket, options=options))
    prompt("read {0}", "x", returns=Ticket, options=options)
    assert model.requests == [request]


def test_what_is_not_known_yet_is_marked(scripted: Script) -> None:
    template = "rate {mail} by {0}: {0:raw}, with {look_up}"

    def look_up(name: str) -> str:
        return name

    marked = first_request(
        Question(
            template,
            (Unknown("«rules[0]»"),),
            {"mail": Unknown("«mail»"), "look_up": look_up},
            Ticket,
            options={"temperature": 0},
        )
    )
    model = scripted('{"title": "a", "severity": "low"}')
    arguments: dict[str, Any] = {"mail": "x", "look_up": look_up, "returns": Ticket}
    prompt(template, "tone", **arguments, options={"temperature": 0})
    (sent,) = model.requests
    text = marked.messages[0]["content"]
    assert text.startswith("rate «mail» by «rules[0]»: «rules[0]», with look_up\n\nReply with")
    filled = text.replace("«mail»", '"x"').replace("«rules[0]»", '"tone"', 1)
    messages = [{"role": "user", "content": filled.replace("«rules[0]»", "tone")}]
    assert {**marked.canonical(), "messages": messages} == sent.canonical()


def test_options_and_functions_that_are_not_known_yet_are_marked() -> None:
    request = first_request(
        Question(
            "use {look_up} and {0}",
            (Unknown("«a if b else c»", kind="function"),),
            {"look_up": Unknown("«look_up»", kind="function")},
            options={"temperature": Unknown("«t»"), "system": Unknown("«s»"), "seed": 7},
        )
    )
    assert [message["content"] for message in request.messages] == ["«s»", "use look_up and tool_1"]
    assert request.options == {"temperature": "«t»", "seed": 7}
    assert [tool["function"] for tool in request.tools] == [
        {"name": "look_up", "parameters": "«look_up»"},
        {"name": "tool_1", "parameters": "«a if b else c»"},
    ]


def test_media_that_are_not_known_yet_are_parts_of_their_own() -> None:
    names = {"photo": Unknown("«photo»", "image"), "pages": Unknown("«pages»", "file")}
    request = first_request(Question("compare {photo} with {pages}.", (), names))
    (message,) = request.messages
    assert message["content"] == [
        {"type": "text", "text": "compare "},
        {"type": "image_url", "image_url": {"url": "«photo»"}},
        {"type": "text", "text": " with "},
        {"type": "file", "file": {"filename": "«pages»", "file_data": "«pages»"}},
        {"type": "text", "text": "."},
    ]


def test_calls_from_several_threads_do_not_mix() -> None:
    class Echo:
        def complete(self, request: Any) -> Reply:
            return Reply(request.messages[0]["content"])

    configure(provider=Echo())
    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(lambda n: prompt("{n}", n=n).value, range(200)))
    assert values == [str(n) for n in range(200)]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: prompt(cast("Any", None)), "template: expected string, got nil"),
        (lambda: prompt(cast("Any", ["a"])), "template: expected string, got list"),
        (
            lambda: prompt("?", rounds=cast("Any", "a")),
            "`rounds` is a number of rounds, got string",
        ),
        (lambda: prompt("?", rounds=True), "`rounds` is a number of rounds, got bool true"),
        (lambda: prompt("?", rounds=-1), "`rounds` is a number of rounds, got int -1"),
        (lambda: prompt("?", returns=3), "`3` is not a type"),
        (lambda: prompt("?", returns=[]), r"`[]` is not a type"),
        (lambda: prompt("?", returns=list[cast("Any", [])]), r"`list[[]]` is not a type"),
        (lambda: prompt("?", returns=Literal[b"a"]), "b'a'"),
    ],
)
def test_arguments_that_cannot_be(call: Callable[[], Any], said: str, scripted: Script) -> None:
    model = scripted()
    with pytest.raises(CheckError) as caught:
        call()
    assert said in str(caught.value)
    assert model.requests == []


def test_a_value_that_is_nested_too_deeply(scripted: Script) -> None:
    model = scripted()
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(CheckError, match="no JSON form"):
        prompt("{deep}", deep=deep)
    assert model.requests == []


def test_a_reply_cannot_steer_the_terminal_through_an_error(scripted: Script) -> None:
    scripted("a\x1b[2J\x07b\x9bc\u202ed", "\u2028\u009d")
    with pytest.raises(ContractError) as caught:
        prompt("?", returns=list[int], options={"max_repairs": 0})
    assert str(caught.value).isprintable()
    scripted(Reply("no\x1b[2J\x9b", finish="refusal"))
    with pytest.raises(Refused) as refused:
        prompt("?")
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('"mr. karabalabaloofal"', "mr. karabalabaloofal"),
        (' "two\\nlines" \n', "two\nlines"),
        ('""', ""),
        ('"one" or "two"', '"one" or "two"'),
        ('"', '"'),
        ('"half \\ud800"', '"half \\ud800"'),
        ("'one'", "'one'"),
        ("12", "12"),
    ],
)
def test_text_that_is_one_json_string_is_what_it_holds(
    scripted: Script, reply: str, value: str
) -> None:
    scripted(reply)
    result = prompt("?")
    changed = [] if value == reply else ["quotes around the text removed"]
    assert (result.value, result.text, result.repairs) == (value, reply, changed)
