"""A deterministic provider that answers by rules, to try things out and for the examples.

    "who has the longest name in ["Al","Barbara"]?"            Barbara
    "add 2 and 3", with an int as the answer                   5
    "call up(verb) for each verb in ["a","b"]", with `up`      calls up twice, answers ["A","B"]

It reads the request's data: the schema of the answer, the tools, and the JSON values in the prompt.
It calls tools in the order in which the text names them. It calls one tool per round, and passes
the results to the next tool. Equal requests get equal replies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from runtime_support._core.messages import Message, Reply, Request, ToolRequest
from runtime_support._core.outputs.outputs import RETURN_PREFIX
from runtime_support._core.settings import Settings
from runtime_support._mock.values import JSONSchema, ParsedPrompt, in_order
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import is_list, is_object

MODEL = "mock (rules, no model)"
MOST_CALLS = 4

# The prefix of definitions in a program's schema that describe function calls.
_CALL = "call."
_CANDIDATE = re.compile(r"^(\d+)\. (.*?): ", re.MULTILINE)

Tool = dict[str, Any]


def configured(settings: Settings) -> MockProvider:
    """Returns the provider, which ignores all settings."""
    return MockProvider()


class MockProvider:
    """The provider `mock`, which answers prompts by fixed rules."""

    def complete(self, request: Request) -> Reply:
        """Returns the reply to a request. Equal requests get equal replies."""
        tools = {tool["function"]["name"]: tool["function"] for tool in request.tools}
        returns = [tools.pop(name) for name in [*tools] if name.startswith(RETURN_PREFIX)]
        schema = request.schema or {}
        has_contract = bool(returns) or request.schema is not None
        text, later = _question(request.messages, has_contract)
        reading = ParsedPrompt.of(text, schema.get("$defs", {}))
        if any(name.startswith(_CALL) for name in reading.definitions):
            chosen = _choice(_text_of(later[-1]["content"]), reading) if later else None
            return _reply(request, chosen or to_json(_program(reading, schema)))
        stages = _stages_done(later)
        calls = [] if request.must_answer else _next_calls(reading, tools, stages)
        if stages:
            reading = replace(reading, values=tuple(stages[-1]), is_answered=True)
        calls = calls or [_return_call(tool, reading) for tool in returns]
        if calls:
            return _reply(request, "", calls)
        if request.schema is None:
            answer = reading.text_answer()
            asked = _text_of(request.messages[-1]["content"]).rpartition("\n\n")[2]
            # A request for any JSON value has no schema, but asks for JSON in words.
            return _reply(request, to_json(answer) if "Reply with JSON" in asked else answer)
        return _reply(request, to_json(reading.value(schema)))


def _question(messages: Sequence[Message], has_contract: bool) -> tuple[str, Sequence[Message]]:
    """Returns the text of the last question, and the messages after it.

    If `has_contract`, the last paragraph of a question describes the type of the answer. This
    paragraph is dropped, because the request also has the type as data. A message that responds to
    a reply has no such paragraph, and is not a question.
    """
    asked = [place for place, message in enumerate(messages) if message["role"] == "user"]
    texts = {place: _text_of(messages[place]["content"]) for place in asked}
    full = [place for place in asked if "\n\n" in texts[place]] if has_contract else asked
    last = (full or asked)[-1]
    text = texts[last].rpartition("\n\n")[0] if has_contract else texts[last]
    return text, messages[last + 1 :]


def _reply(request: Request, text: str, calls: Iterable[ToolRequest] = ()) -> Reply:
    """Returns a reply with a text or tool calls. Four characters count as one token."""
    asked = sum(len(_text_of(message["content"])) for message in request.messages)
    given = len(text) + sum(len(call.arguments) for call in calls)
    finish = "tool_calls" if calls else "stop"
    return Reply(text, tuple(calls), finish, MODEL, asked // 4, given // 4 + 1)


def _text_of(content: Any) -> str:
    """Returns the text of a message, with a paragraph for each part. Ignores pictures."""
    if not is_list(content):
        return content or ""
    return "\n\n".join(part["text"] for part in content if part["type"] == "text")


def _return_call(tool: Tool, reading: ParsedPrompt) -> ToolRequest:
    name = tool["name"].removeprefix(RETURN_PREFIX)
    value = _inside(tool, reading).value(tool["parameters"]["properties"]["value"], name)
    return ToolRequest(tool["name"], to_json({"value": value}))


# Tools.


def _stages_done(messages: Sequence[Message]) -> list[list[Any]]:
    """Returns a list of outputs for each round of tool calls.

    Omits the outputs of failed calls, unless all calls of the round failed.
    """
    stages: list[list[Any]] = []
    for message in messages:
        calls = message.get("tool_calls") or ()
        own = [one for one in calls if not one["function"]["name"].startswith(RETURN_PREFIX)]
        if own:
            identities = [call["id"] for call in own]
            answers = [m for m in messages if m.get("tool_call_id") in identities]
            outputs = [_output(_text_of(answer["content"])) for answer in answers]
            stages.append([x for x in outputs if not str(x).startswith("error: ")] or outputs)
    return stages


def _output(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _next_calls(
    reading: ParsedPrompt, tools: dict[str, Tool], stages: list[list[Any]]
) -> list[ToolRequest]:
    """Returns the calls of the next round.

    Returns an empty list if every tool that the text names has had its round.
    """
    items = reading.lists[0] if reading.lists and reading.asks("each every") else []
    by_parity = [_tool_for(word, tools, reading.rest) for word in ("even", "odd")]
    numbers = [item for item in items or reading.values if isinstance(item, int)]
    if numbers and all(by_parity):
        return [] if stages else [_call(by_parity[n % 2], [n], reading) for n in numbers]
    plan = [tools[name] for name in in_order(tools, reading.rest)]
    if len(stages) >= len(plan):
        return []
    tool = plan[len(stages)]
    fed = stages[-1] if stages else items
    if any(_parts(tool, item, reading) for item in fed):
        return [_call(tool, _parts(tool, item, reading), reading, item) for item in fed]
    found = _all_for(tool, reading, tools) if len(_required(tool)) == 1 else []
    if found:
        return [_call(tool, [value], reading) for value in found[:MOST_CALLS]]
    return [_call(tool, [*reading.named(*tools), *reading.values], reading)]


def _tool_for(word: str, tools: dict[str, Tool], text: str) -> Any:
    """Returns the tool that follows a word in the same clause: "if it is even, call half".

    Returns None if there is no such tool.
    """
    found = re.search(
        rf"\b{word}\b[^.;\n]*?\b({'|'.join(map(re.escape, tools)) or '(?!)'})\b", text
    )
    return tools[found[1]] if found else None


def _inside(tool: Tool, reading: ParsedPrompt) -> ParsedPrompt:
    """Returns the prompt with the named schemas of the tool's parameters as its definitions."""
    return replace(reading, definitions=tool["parameters"].get("$defs", {}))


def _required(tool: Tool) -> dict[str, JSONSchema]:
    fields: dict[str, JSONSchema] = tool["parameters"].get("properties", {})
    return {name: fields[name] for name in tool["parameters"].get("required", ())}


def _parts(tool: Tool, item: Any, reading: ParsedPrompt) -> list[Any]:
    """Returns the arguments that an item gives for a tool: its members, the item itself, or none.

    The members are used if the required parameters take them in order. Otherwise the item is used
    if a parameter takes it. Otherwise the members are used if a parameter takes one of them.
    """
    schemas = [*_required(tool).values()]
    takes = _inside(tool, reading).takes
    members = [*item.values()] if is_object(item) else item if is_list(item) else []
    is_spread = len(members) >= len(schemas) > 1 and all(map(takes, schemas, members))
    if not is_spread and any(takes(schema, item) for schema in schemas):
        return [item]
    return members if any(takes(s, member) for s in schemas for member in members) else []


def _all_for(tool: Tool, reading: ParsedPrompt, tools: Iterable[str]) -> list[Any]:
    """Returns the prompt's values that fit the tool's only required parameter.

    The tool is called once for each value.
    """
    inner = _inside(tool, reading)
    schema = inner.resolved(next(iter(_required(tool).values())))
    if "enum" in schema:
        return in_order(schema["enum"], reading.text)
    for found in (reading.values, *reading.lists, reading.named(*tools)):
        fitting = [value for value in found if inner.takes(schema, value)]
        if fitting:
            return fitting
    return []


def _call(tool: Any, values: Iterable[Any], reading: ParsedPrompt, item: Any = None) -> ToolRequest:
    """Returns a call of the tool with arguments from `item` and `values`.

    A parameter takes the field of its name in `item`, or else the next value that fits.
    """
    inner, left = _inside(tool, reading), list(values)
    fields = item if is_object(item) else {}
    arguments: dict[str, Any] = {}
    for name, schema in tool["parameters"].get("properties", {}).items():
        if name in fields and inner.takes(schema, fields[name]):
            arguments[name] = fields[name]
            left = [one for one in left if one is not fields[name]]
        elif name in _required(tool):
            found = _taken(schema, left, inner)
            arguments[name] = found[0] if found else inner.value(schema, name)
    return ToolRequest(tool["name"], to_json(arguments))


def _taken(schema: JSONSchema, left: list[Any], reading: ParsedPrompt) -> list[Any]:
    """Removes from `left` the first value that fits the schema, and returns a list with this value.

    If no value fits, tries to take several values as one list. Returns an empty list if this list
    does not fit, either.
    """
    found = next((index for index, one in enumerate(left) if reading.takes(schema, one)), None)
    if found is not None:
        return [left.pop(found)]
    count = len(reading.resolved(schema).get("prefixItems", left))
    together = [one for one in left if not is_list(one) and not is_object(one)][:count]
    if not together or not reading.takes(schema, together):
        return []
    left[:] = [one for one in left if one not in together]
    return [together]


# Programs.


def _choice(answer: str, reading: ParsedPrompt) -> str | None:
    """Returns the number of the candidate that shares the most words with the prompt.

    The text `answer` lists the candidates. Returns None if there are no candidates.
    """
    candidates = _CANDIDATE.findall(answer)
    said = {*re.findall(r"\w+", reading.text.lower())}
    shared = [len(said & {*re.findall(r"\w+", about.lower())}) for _, about in candidates]
    if reading.asks("newest latest last"):
        candidates, shared = candidates[::-1], shared[::-1]
    return candidates[shared.index(max(shared))][0] if candidates else None


def _program(reading: ParsedPrompt, schema: JSONSchema) -> Any:
    """Returns a program that calls the functions that the text names.

    A function takes its arguments from the results of earlier calls and from the prompt's values.
    """
    own = [name.removeprefix(_CALL) for name in reading.definitions if name.startswith(_CALL)]
    named = in_order(own, reading.rest)
    left = [*reading.values, *reading.named(*own)]
    said: dict[str, Any] = {}
    outputs: list[Any] = []
    for name in named:
        made = _mapped(name, left, reading, named) if reading.asks("each every") else None
        supply = [*outputs, *left]
        made = made or _composed(name, supply, said, reading, named)
        if made is not None:
            outputs = [*(one for one in outputs if one in supply), made]
            left = [one for one in left if one in supply]
    together = [outputs] if len(outputs) > 1 else []
    first = [one[0] for one in outputs if is_list(one)]
    for found in (*together, *reversed(outputs), *first):
        if reading.takes(schema, found):
            return found
    return reading.value(schema)


def _mapped(
    name: str, left: list[Any], reading: ParsedPrompt, named: list[str]
) -> list[Any] | None:
    """Returns calls of a function, one for each item of a list in `left`.

    The list is the first list whose items the function takes one by one. Returns None if there is
    no such list.
    """
    for one in filter(is_list, left):
        supplies = [[item if other is one else other for other in left] for item in one]
        made = [_composed(name, supply, {}, reading, named) for supply in supplies]
        if made and all(made) and all(i not in s for i, s in zip(one, supplies, strict=True)):
            left[:] = [other for other in left if other in supplies[0]]
            return made
    return None


def _composed(
    name: str, left: list[Any], said: dict[str, Any], reading: ParsedPrompt, named: list[str]
) -> JSONSchema | None:
    """Returns a call with arguments taken from `left`, or None if a parameter gets no argument.

    `said` maps the names of earlier parameters to their arguments, which parameters with the same
    name reuse. Functions that the text does not name may convert values to the parameter's type.
    """
    body = reading.definitions[_CALL + name]["properties"][name]
    forms = [one for one in (body, *body.get("anyOf", ())) if "properties" in one]
    arguments: dict[str, Any] = {}
    for parameter in forms[0].get("required", ()) if forms else ():
        schema = forms[0]["properties"][parameter]
        is_said = parameter in said and reading.takes(schema, said[parameter])
        found = [said[parameter]] if is_said else _taken(schema, left, reading)
        makers = reading.resolved(schema).get("anyOf", ()) if named else ()
        for maker in (str(one.get("$ref")).partition(_CALL)[2] for one in makers):
            if not found and maker and maker not in named:
                trial = [*left]
                made = _composed(maker, trial, {}, reading, [])
                if made and reading.takes(schema, made):
                    found, left[:] = [made], trial
        plain = reading.value(schema, parameter) if named and not found else None
        if not found and not reading.takes(schema, plain):
            return None
        arguments[parameter] = found[0] if found else plain
    said.update(arguments)
    return {name: arguments}
