"""What servers, models and tables do in the field, each as the smallest script that meets it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.fake_server import (
    LEFT,
    Answer,
    calling,
    chunk,
    completion,
    ending,
    events,
    raw,
    streamed,
)
from tests.support.homes import Home

TEMPERATURE = """\
/// The temperature of a city.
f temp(city: string) -> float:
    print("CALL", city)
    ret 3.5
"""
NUMBER = "n: int = $ How many? $\nprint(n)\n"


def answers(home: Home, *queued: Answer) -> None:
    """Has the server answer with these, and with nothing else: the last is not given again."""
    left = list(queued)

    def respond(_: dict[str, Any]) -> Answer:
        if left:
            return left.pop(0)
        return _error(400, {"message": "nothing more is to be asked", "type": "test"})

    home.server.responder = respond


def _error(code: int, error: Any, **headers: str) -> Answer:
    body = json.dumps({"error": error}).encode()
    return Answer(code, body, {"content-type": "application/json", **headers})


def printed(home: Home, script: str, **environment: str) -> list[str]:
    """The lines that a script prints, which ends well."""
    ended = home.run(script, **environment)
    assert ended.code == 0, ended.err
    return ended.out.split("\n")[:-1]


def test_a_limit_of_a_minute_in_the_words_of_an_empty_account_is_waited_for(home: Home) -> None:
    google = "type.googleapis.com/google.rpc"
    limit = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}
    error = {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": f"{google}.QuotaFailure", "violations": [limit]},
            {"@type": f"{google}.RetryInfo", "retryDelay": "0.05s"},
        ],
    }
    body = json.dumps([{"error": error}]).encode()
    refused = Answer(429, body, {"content-type": "application/json"})
    answers(home, refused, completion("ok"))
    assert printed(home, "print($ Say ok. $)") == ["ok"]
    assert len(home.asked) == 2


def test_the_name_of_an_invented_tool_does_not_go_back(home: Home) -> None:
    answers(
        home,
        calling(("functions.temp", {"city": "Oslo"})),
        calling(("temp", {"city": "Oslo"})),
        completion("done"),
    )
    script = TEMPERATURE + "print($ How warm is it in Oslo? Use {temp}. $)\n"
    assert printed(home, script)[-2:] in (["CALL Oslo", "done"], ["CALL Oslo", "CALL Oslo"])


def test_an_empty_reply_does_not_go_back(home: Home) -> None:
    answers(home, completion(""), completion("3"))
    assert printed(home, NUMBER) == ["3"]
    assert len(home.asked) == 2


def test_thoughts_without_an_answer_do_not_go_back_alone(home: Home) -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    text = {"type": "output_text", "text": "3", "annotations": []}
    said = {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [text],
    }
    answers(home, _response(thought), _response(said))
    assert printed(home, NUMBER, SAFT_API="responses") == ["3"]
    assert [request.path for request in home.server.requests] == ["/v1/responses"] * 2


def _response(*output: dict[str, Any]) -> Answer:
    document = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "fake",
        "status": "completed",
        "output": output,
        "usage": {
            "input_tokens": 10,
            "output_tokens": 5,
            "total_tokens": 15,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    return raw(json.dumps(document).encode())


def test_double_quotes_that_do_not_match_swallow_no_rows(home: Home) -> None:
    home.write("echo.saft", "f echo(id: string, body: string) -> string:\n    ret $ {body} $\n")
    home.write("table.csv", 'id,body\n1,"hello\n2,x\n3,y\n')
    ended = home.saftc("map", "echo.saft:echo", "table.csv", "out")
    assert ended.code == 2
    assert "table.csv:2:" in ended.err and "quotes" in ended.err
    assert home.asked == []


def test_a_name_that_comes_in_each_chunk_is_one_name(home: Home) -> None:
    def part(arguments: str) -> bytes:
        function = {"name": "temp", "arguments": arguments}
        call = {"index": 0, "id": "a", "type": "function", "function": function}
        return chunk({"tool_calls": [call]})

    called = events([part('{"ci'), part('ty": "Oslo"}'), *ending("tool_calls")])
    answers(home, called, streamed("done"))
    script = TEMPERATURE + "for p in stream $ How warm? Use {temp}. $:\n    print(p)\n"
    assert printed(home, script) == ["CALL Oslo", "done"]


def test_a_call_that_leaks_into_the_text_is_no_answer(home: Home) -> None:
    call = '{"name": "temp", "arguments": {"city": "Oslo"}}'
    answers(
        home, completion(f"<tool_call>\n{call}\n</tool_call>"), completion("It is 3.5 degrees.")
    )
    script = TEMPERATURE + "print($ How warm is it in Oslo? Use {temp}. $)\n"
    assert printed(home, script)[-1] == "It is 3.5 degrees."


def _failed_choice(code: int) -> Answer:
    error = {"code": code, "message": "The provider gave up"}
    message = {"role": "assistant", "content": ""}
    choice = {"index": 0, "finish_reason": "error", "message": message, "error": error}
    return raw(json.dumps({"id": "g", "choices": [choice]}).encode())


def test_an_error_inside_of_a_choice_is_read_as_that_of_a_status(home: Home) -> None:
    answers(home, _failed_choice(502), completion("ok"))
    assert printed(home, "print($ Say ok. $)") == ["ok"]
    answers(home, _failed_choice(400))
    ended = home.run("print($ Say ok. $)")
    assert ended.code == 1
    assert "The provider gave up" in ended.err


def test_a_stream_that_is_done_without_a_finish_is_whole(home: Home) -> None:
    answers(home, events([chunk({"content": "Hello"}), b"data: [DONE]\n\n"]))
    script = 'for p in stream $ Tell. $:\n    print(p)\nprint("END")\n'
    assert printed(home, script) == ["Hello", "END"]


def test_what_is_mended_in_a_reply_is_mended_in_arguments(home: Home) -> None:
    script = """\
/// Saves a text.
f save(text: string) -> string:
    print("CALL", len(text))
    ret "ok"
print($ Use {save}. $)
"""
    for arguments in (
        '{"text": "one\ntwo"}',
        "{'text': 'one two'}",
        '```json\n{"text": "one two"}\n```',
        '{"text": "one two"}}',
    ):
        answers(home, calling(("save", arguments)), completion("done"))
        assert printed(home, script) == ["CALL 7", "done"], arguments


@pytest.mark.heavy
@pytest.mark.one_python
def test_a_union_of_two_types_and_nil_is_what_mypy_takes(home: Home) -> None:
    script = "type A(x: int)\n\nf one(text: string) -> A | string | nil:\n    ret $ {text} $\n"
    home.write("script.saft", script)
    assert home.saftc("build", "script.saft", "-o", "out.py").code == 0
    run_mypy = "from mypy.main import main\n\nmain(args=['--strict', 'out.py'], clean_exit=True)\n"
    ended = home.python(run_mypy)
    assert (ended.code, ended.out) == (0, "Success: no issues found in 1 source file\n")


def test_a_limit_of_the_reply_is_sent_as_the_model_takes_it(home: Home) -> None:
    said = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )
    error = {"message": said, "type": "x", "param": None, "code": "unsupported_parameter"}
    answers(home, _error(400, error), completion("ok"))
    assert printed(home, "print($ Say ok. $ with {max_tokens: 50})") == ["ok"]
    last = home.server.bodies[-1]
    assert (last.get("max_completion_tokens"), "max_tokens" in last) == (50, False)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"id": "g", "choices": null}',
        b'{"id": "g"}',
    ],
)
def test_an_answer_without_a_body_or_choices_is_asked_for_again(home: Home, body: bytes) -> None:
    answers(home, raw(body), completion("ok"))
    assert printed(home, "print($ Say ok. $)") == ["ok"]


def test_an_empty_result_of_a_tool_is_no_empty_message(home: Home) -> None:
    answers(home, calling(("do_it", {})), completion("done"))
    script = '/// Does it.\nf do_it() -> string:\n    ret ""\nprint($ Use {do_it}. $)\n'
    assert printed(home, script) == ["done"]
    assert home.server.bodies[-1]["messages"][-1]["content"]


def test_a_number_for_a_text_is_taken_in_arguments_as_in_a_reply(home: Home) -> None:
    script = """\
/// Reads a sheet.
f sheet(name: string) -> string:
    print("CALL", name)
    ret "ok"
print($ Use {sheet}. $)
"""
    answers(home, calling(("sheet", {"name": 1})), completion("done"))
    assert printed(home, script) == ["CALL 1", "done"]


def test_tries_that_ran_out_of_time_are_counted(home: Home) -> None:
    # Nothing comes until the client has left.
    home.server.responder = lambda _: raw(b"", parts=[LEFT])
    script = """\
try:
    print($ x $ with {timeout: 0.05})
except e:
    print(e.message)
print($ y $ with {timeout: 0.05})
"""
    ended = home.run(script, "--budget-requests", "2", "--usage")
    assert ended.code == 1
    assert len(home.asked) == 2
    assert "2 requests" in ended.err


def test_a_comma_before_three_digits_is_asked_about(home: Home) -> None:
    answers(home, completion('{"weight": "12,345 kg"}'), completion('{"weight": 12.345}'))
    script = "type S(weight: float)\ns: S = $ Read the delivery note. $\nprint(s.weight)\n"
    assert printed(home, script) == ["12.345"]


# Tools of other people's servers


def _tool(name: str, **fields: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, **fields}


def lists(home: Home, *tools: dict[str, Any]) -> None:
    """Configures a server `docs` that lists these tools, and writes its calls into `calls`."""
    home.write("tools.json", json.dumps(tools))
    home.write("calls", "")
    home.add_mcp_server(f"tools={home.folder / 'tools.json'}", str(home.folder / "calls"))


def test_a_malformed_tool_keeps_no_others_from_being_locked(home: Home) -> None:
    bad = _tool("bad", inputSchema={"anyOf": [{"type": "object"}]})
    lists(home, bad, _tool("good", _result={"a": 1}))
    locked = home.saftc("mcp", "lock")
    assert "good" in locked.out
    assert "`bad` is left out: inputSchema.type: Field required" in locked.err
    assert "pydantic" not in locked.err
    assert printed(home, 'from mcp("docs") import good\nprint(good())\n') == ["{a: 1}"]


def test_a_schema_that_points_nowhere_fails_no_call_that_was_made(home: Home) -> None:
    schema = {"type": "object", "properties": {"s": {"$ref": "#/$defs/Screen"}}}
    lists(home, _tool("look", outputSchema=schema, _result={"s": {"a": 1}}))
    locked = home.saftc("mcp", "lock")
    ended = home.run('from mcp("docs") import look\nprint(look().s)\n')
    if locked.code == 0:
        assert (ended.code, ended.out) == (0, "{a: 1}\n")
    else:
        assert "look" in locked.err
    assert (ended.code == 0) == (home.read("calls") != "")


def test_two_tools_of_one_name_are_told(home: Home) -> None:
    text = {"a": {"type": "string"}}
    other = {"type": "object", "properties": text, "required": ["a"]}
    lists(home, _tool("find"), _tool("find", inputSchema=other))
    locked = home.saftc("mcp", "lock")
    assert locked.code == 1
    assert "two tools" in locked.err and "find" in locked.err
    assert home.run('from mcp("docs") import find\nprint(find())\n').code == 1
    assert home.read("calls") == ""


COUNTED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def test_a_text_where_data_is_declared_is_the_failure_in_the_servers_words(home: Home) -> None:
    lists(home, _tool("filter", outputSchema=COUNTED, _text="filter expects an integer"))
    assert home.saftc("mcp", "lock").code == 0
    script = """\
from mcp("docs") import filter as sift
try:
    print(sift().n)
except e:
    print(e.kind, e.message)
"""
    for _ in range(2):
        (told,) = printed(home, script, SAFT_JOURNAL="a.journal")
        assert told.startswith("failed ") and told.endswith(": filter expects an integer")
    assert home.read("calls") == "filter {}\n", "a call that was made is not made again"


@pytest.mark.parametrize(
    ("schema", "text", "shown"),
    [
        (COUNTED, '{"n": 3}', "{n: 3}"),
        ({"type": "object", "properties": {"result": {}}, "required": ["result"]}, "[1]", "[1]"),
    ],
)
def test_a_text_that_is_the_declared_data_as_json_is_the_result(
    home: Home, schema: dict[str, Any], text: str, shown: str
) -> None:
    lists(home, _tool("count", outputSchema=schema, _text=text))
    assert home.saftc("mcp", "lock").code == 0
    assert printed(home, 'from mcp("docs") import count\nprint(count())\n') == [shown]


def test_one_of_two_tools_whose_names_fall_together_is_chosen_by_as(home: Home) -> None:
    lists(home, _tool("get-page", _result={"a": 1}), _tool("get_page", _result={"a": 2}))
    locked = home.saftc("mcp", "lock")
    assert (locked.code, locked.out.count("f get_page()")) == (0, 2)
    assert '// "get-page"' in locked.out
    both = 'from mcp("docs") import get_x2d_page as first, get_page as second\n'
    assert printed(home, f"{both}print(first(), second())\n") == ["{a: 1} {a: 2}"]
    ended = home.run('from mcp("docs") import get_page\nprint(get_page())\n')
    assert ended.code == 1
    assert 'choose one by `as`: `get_x2d_page as one`' in ended.err
