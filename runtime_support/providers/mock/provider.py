"""The mock's side of a conversation.

A request's transcript says how far the conversation is: with tools, the plan is made anew each
time from the prompt, and the outputs that already stand in the transcript are the stages done.

    stage 1: call do_upper for each verb      stage 2: call add_suffix with each output
    then: the value that is asked for, from the last outputs
"""

from __future__ import annotations

import json
import re
from typing import Any

from runtime_support.exchange import Reply, Request, ToolRequest
from runtime_support.goals import RETURN_PREFIX
from runtime_support.jsontext import to_json
from runtime_support.providers.mock.answering import text_for, value_for
from runtime_support.providers.mock.reading import Reading
from runtime_support.values import is_list, is_number, is_object

_ENDING = re.compile(r"\n\n(Reply with JSON only|Answer by calling each of these tools)")

_ALTERNATIVES = re.compile(r"\b(or|either|choose|between|whichever|one of)\b", re.IGNORECASE)

Tool = dict[str, Any]


class MockProvider:
    """Answers by heuristics."""

    def complete(self, request: Request) -> Reply:
        """The reply; the same for the same request."""
        reading = Reading.of(_prompt_text(request))
        functions: list[Tool] = [tool["function"] for tool in request.tools]
        ordinary = [f for f in functions if not f["name"].startswith(RETURN_PREFIX)]
        stages = _stages_done(request)
        if ordinary and not request.must_answer:
            calls = _next_calls(_without_tool_names(reading, ordinary), ordinary, stages)
            if calls:
                return _calling(request, calls)
        if stages:
            reading = _with_outputs(reading, stages, request)
        returns = [f for f in functions if f["name"].startswith(RETURN_PREFIX)]
        if returns:
            return _calling(request, [_return_call(tool, reading) for tool in returns])
        if request.schema is not None:
            return _text(request, to_json(value_for(request.schema, reading)))
        if stages:
            return _text(request, _report(stages))
        return _text(request, text_for(reading))


def _prompt_text(request: Request) -> str:
    content = next(str(m["content"]) for m in request.messages if m["role"] == "user")
    return _ENDING.split(content)[0]


def _stages_done(request: Request) -> list[list[tuple[str, Any]]]:
    """For each round so far, the tool and the output of each call."""
    stages: list[list[tuple[str, Any]]] = []
    names: dict[str, str] = {}
    for message in request.messages:
        if message.get("tool_calls"):
            stages.append([])
            for call in message["tool_calls"]:
                names[call["id"]] = call["function"]["name"]
        elif message["role"] == "tool":
            name = names[message["tool_call_id"]]
            if not name.startswith(RETURN_PREFIX):
                stages[-1].append((name, _output(str(message["content"]))))
    return [stage for stage in stages if stage]


def _output(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _next_calls(
    reading: Reading, tools: list[Tool], stages: list[list[tuple[str, Any]]]
) -> list[ToolRequest]:
    """The calls of the next stage; none when the plan is done."""
    plan = _plan(reading, tools)
    if len(stages) >= len(plan):
        return []
    tool = plan[len(stages)]
    if stages and _takes_output(tool):
        inputs = [output for _, output in stages[-1]]
        return [_call(tool, [value], reading) for value in inputs]
    if reading.asks("each", "every") and reading.lists:
        return [_call(tool, _spread(item), reading) for item in reading.lists[0]]
    return _calls_from_text(tool, reading)


def _plan(reading: Reading, tools: list[Tool]) -> list[Tool]:
    """The tools in the order in which the text names them; of alternatives, the fitting one."""
    named = sorted(tools, key=lambda tool: _mention(reading.text, tool["name"]))
    if len(named) > 1 and _ALTERNATIVES.search(reading.text):
        return [max(named, key=lambda tool: _fitness(tool, reading))]
    return named


def _mention(text: str, name: str) -> int:
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return found.start() if found else len(text)


def _fitness(tool: Tool, reading: Reading) -> int:
    """How much of the tool's name and description the rest of the text says."""
    about = f"{tool['name']} {tool.get('description', '')}".lower().replace("_", " ")
    rest = re.sub(rf"(?<!\w){re.escape(tool['name'])}(?!\w)", " ", reading.text).lower()
    stems = {word[:5] for word in re.findall(r"[a-z]{3,}", rest)}
    return len(stems & {word[:5] for word in re.findall(r"[a-z]{3,}", about)})


def _without_tool_names(reading: Reading, tools: list[Tool]) -> Reading:
    names = {tool["name"] for tool in tools}
    return Reading(
        reading.text, reading.values, tuple(name for name in reading.names if name not in names)
    )


def _takes_output(tool: Tool) -> bool:
    return len(tool["parameters"].get("properties", {})) == 1


def _spread(item: Any) -> list[Any]:
    return item if is_list(item) else [item]


def _calls_from_text(tool: Tool, reading: Reading) -> list[ToolRequest]:
    properties: dict[str, Any] = tool["parameters"].get("properties", {})
    if len(properties) == 1:
        (schema,) = properties.values()
        if schema.get("type") != "array":
            found = _candidates(schema, reading)
            return [_call(tool, [value], reading) for value in found[:4]] or [
                _call(tool, [], reading)
            ]
    return [_call(tool, list(reading.values), reading)]


def _call(tool: Tool, values: list[Any], reading: Reading) -> ToolRequest:
    """A call with these values where they fit by name or type, and plausible ones elsewhere."""
    properties: dict[str, Any] = tool["parameters"].get("properties", {})
    objects = [value for value in values if is_object(value)]
    left = [*values, *reading.names]
    arguments: dict[str, Any] = {}
    for name, schema in properties.items():
        named = next((one[name] for one in objects if name in one), None)
        if named is not None:
            arguments[name] = named
            continue
        fitting = next((value for value in left if _suits(schema, value)), None)
        if fitting is not None:
            left.remove(fitting)
            arguments[name] = fitting
        elif name in tool["parameters"].get("required", ()):
            arguments[name] = value_for(schema, reading, name)
    return ToolRequest(tool["name"], to_json(arguments))


def _candidates(schema: dict[str, Any], reading: Reading) -> list[Any]:
    flat = [item for value in reading.values for item in _spread(value)]
    if schema.get("type") != "object":
        flat = [*flat, *reading.names]
    return [value for value in flat if _suits(schema, value)]


def _suits(schema: dict[str, Any], value: Any) -> bool:
    match schema.get("type"):
        case "string":
            return isinstance(value, str) and value in schema.get("enum", [value])
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return is_number(value)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return is_list(value)
        case "object":
            return is_object(value)
        case _:
            return True


def _with_outputs(
    reading: Reading, stages: list[list[tuple[str, Any]]], request: Request
) -> Reading:
    """The prompt as it reads once the tools have answered: their outputs are the values."""
    outputs = [output for _, output in stages[-1]]
    schema = request.schema or {}
    wants_list = schema.get("type") == "array" and "prefixItems" not in schema
    values = (
        (outputs,)
        if wants_list and not (len(outputs) == 1 and is_list(outputs[0]))
        else (*outputs,)
    )
    plain_words = "the values are"
    return Reading(plain_words, tuple(values), reading.names)


def _return_call(tool: Tool, reading: Reading) -> ToolRequest:
    name = tool["name"].removeprefix(RETURN_PREFIX)
    schema: dict[str, Any] = tool["parameters"]["properties"]["value"]
    inner = {**schema, "$defs": tool["parameters"].get("$defs", {})}
    return ToolRequest(tool["name"], to_json({"value": value_for(inner, reading, name)}))


def _report(stages: list[list[tuple[str, Any]]]) -> str:
    outputs = [output for _, output in stages[-1]]
    texts = [output if isinstance(output, str) else to_json(output) for output in outputs]
    return "; ".join(texts)


def _calling(request: Request, calls: list[ToolRequest]) -> Reply:
    return Reply("", tuple(calls), "tool_calls", "mock", _tokens(request), 8 * len(calls))


def _text(request: Request, text: str) -> Reply:
    return Reply(text, (), "stop", "mock", _tokens(request), max(1, len(text) // 4))


def _tokens(request: Request) -> int:
    return sum(len(str(message.get("content") or "")) // 4 for message in request.messages)
