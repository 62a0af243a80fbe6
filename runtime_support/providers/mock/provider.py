"""The mock's side of a conversation.

A request's transcript says how far the conversation is: with tools, the plan is made anew each
time from the prompt, and the outputs that already stand in the transcript are the stages done.
"""

from __future__ import annotations

import json
import re
from typing import Any

from runtime_support.exchange import Reply, Request, ToolRequest
from runtime_support.goals import RETURN_PREFIX
from runtime_support.jsontext import to_json
from runtime_support.providers.mock.answering import report, text_for, value_for
from runtime_support.providers.mock.calling import Stage, Tool, next_calls
from runtime_support.providers.mock.reading import Reading
from runtime_support.values import is_list

_ENDING = re.compile(
    r"\n\n(Reply with JSON only|Answer by calling each of these tools|Answer with one program)"
)


class MockProvider:
    """Answers by heuristics."""

    def complete(self, request: Request) -> Reply:
        """The reply; the same for the same request."""
        asked = [_text_of(m["content"]) for m in request.messages if m["role"] == "user"]
        text, kind, ending = _divided(asked[0])
        reading = Reading.of(text)
        if kind == "Answer with one program":
            from runtime_support.providers.mock.programming import program_for

            return _text(request, program_for(reading, ending, asked[1:]))
        functions: list[Tool] = [tool["function"] for tool in request.tools]
        ordinary = [f for f in functions if not f["name"].startswith(RETURN_PREFIX)]
        stages = _stages_done(request)
        if ordinary and not request.must_answer:
            calls = next_calls(reading, ordinary, stages)
            if calls:
                return _calling(request, calls)
        if stages:
            reading = _answered(reading, stages[-1], request.schema or {})
        returns = [f for f in functions if f["name"].startswith(RETURN_PREFIX)]
        if returns:
            return _calling(request, [_return_call(tool, reading) for tool in returns])
        if request.schema is not None:
            return _text(request, to_json(value_for(request.schema, reading)))
        return _text(request, report(reading.values) if stages else text_for(reading))


def _text_of(content: Any) -> str:
    """The text of a message, a paragraph for each part; pictures are not looked at."""
    if not is_list(content):
        return str(content or "")
    return "\n\n".join(part["text"].strip() for part in content if part["type"] == "text")


def _divided(content: str) -> tuple[str, str, str]:
    """The prompt, what kind of answer it ends by asking for, and the words of that."""
    endings = list(_ENDING.finditer(content))
    if not endings:
        return content, "", ""
    last = endings[-1]
    return content[: last.start()], last[1], content[last.end() :]


def _stages_done(request: Request) -> list[Stage]:
    """For each round so far, the tool and the output of each call."""
    stages: list[Stage] = []
    names: dict[str, str] = {}
    for message in request.messages:
        if message.get("tool_calls"):
            stages.append([])
            for call in message["tool_calls"]:
                names[call["id"]] = call["function"]["name"]
        elif message["role"] == "tool":
            name = names[message["tool_call_id"]]
            if not name.startswith(RETURN_PREFIX):
                stages[-1].append((name, _output(_text_of(message["content"]))))
    stages = [_without_errors(stage) for stage in stages]
    return [stage for stage in stages if stage]


def _without_errors(stage: Stage) -> Stage:
    """The outputs without those of calls that failed, unless all did."""
    good = [one for one in stage if not str(one[1]).startswith("error: ")]
    return good or stage


def _output(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _answered(reading: Reading, stage: Stage, schema: dict[str, Any]) -> Reading:
    """The prompt once tools have answered: as one list of outputs where a list is asked for."""
    outputs = tuple(output for _, output in stage)
    wants_list = schema.get("type") == "array" and "prefixItems" not in schema
    return reading.answered(outputs, wants_list and not (len(outputs) == 1 and is_list(outputs[0])))


def _return_call(tool: Tool, reading: Reading) -> ToolRequest:
    name = tool["name"].removeprefix(RETURN_PREFIX)
    schema: dict[str, Any] = tool["parameters"]["properties"]["value"]
    inner = {**schema, "$defs": tool["parameters"].get("$defs", {})}
    return ToolRequest(tool["name"], to_json({"value": value_for(inner, reading, name)}))


def _calling(request: Request, calls: list[ToolRequest]) -> Reply:
    return Reply("", tuple(calls), "tool_calls", "mock", _tokens(request), 8 * len(calls))


def _text(request: Request, text: str) -> Reply:
    return Reply(text, (), "stop", "mock", _tokens(request), max(1, len(text) // 4))


def _tokens(request: Request) -> int:
    return sum(len(str(message.get("content") or "")) // 4 for message in request.messages)
