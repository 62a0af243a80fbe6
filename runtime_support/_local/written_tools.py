"""Tools for models that do not support tools: a schema makes the model write each call as JSON.

    with_written_tools(request, reply_to)    the reply, with a written call as a tool call

The prompt lists the tools and their results so far. A model that was not trained for tools seldom
knows when to use a tool. So the schema allows only calls until the model has made a call. When the
model repeats a call exactly, the next schema allows only the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from runtime_support._core.messages import Message, Reply, ReplyStream, Request, ToolRequest
from runtime_support._media import ending_with, text_of
from runtime_support._values.kinds import is_object

_BEGUN_ANSWER = re.compile(r'\s*(?:\{\s*"value"\s*:\s*)?\{\s*"answer"\s*:\s*"')


def with_written_tools(request: Request, reply_to: Callable[[Request], ReplyStream]) -> ReplyStream:
    """Returns the reply to a request with tools. `reply_to` sends a request without tools."""
    calls = list(_calls(request.messages[request.begins :]))
    if request.tools and not request.must_answer:
        reply = _read((yield from reply_to(_asking(request, calls, request.tools))), request)
        made = [_written(call.name, call.arguments) for call in reply.tool_calls]
        if not any(written in made for written, _ in calls):
            return reply
    return (yield from reply_to(_asking(request, calls, ())))


def _asking(
    request: Request, calls: Sequence[tuple[str, str]], tools: Sequence[dict[str, Any]]
) -> Request:
    """Returns a request without tools that asks for a written call of a tool, or for the answer.

    If `tools` is empty, the request asks only for the answer.
    """
    earlier, own = request.messages[: request.begins], request.messages[request.begins :]
    others = [message for message in own if not _is_of_tools(message)]
    first = next(place for place, message in enumerate(others) if message["role"] == "user")
    others[first] = _ending_with(others[first], _explanation(tools, calls))
    messages = (*_in_words(earlier), *others)
    asked = replace(request, messages=messages, tools=(), must_answer=False)
    if not tools:
        return asked
    forms = [_call_form(tool["function"]) for tool in tools]
    if calls:
        forms.insert(0, _object(answer=request.schema or {"type": "string"}))
    return replace(asked, schema=_one_of(forms), is_strict=False, enforce_schema="on")


def _in_words(messages: Sequence[Message]) -> Iterator[Message]:
    """Yields the messages of the earlier conversation, with tool calls left out.

    The results of tools are appended to the user message before the calls.
    """
    asked = [place for place, message in enumerate(messages) if message["role"] == "user"]
    for place, message in enumerate(messages):
        if place in asked:
            following = next((later for later in asked if later > place), None)
            calls = list(_calls(messages[place:following]))
            yield _ending_with(message, _explanation((), calls)) if calls else message
        elif not _is_of_tools(message):
            yield message


def _is_of_tools(message: Message) -> bool:
    return message["role"] == "tool" or bool(message.get("tool_calls"))


def _ending_with(message: Message, text: str) -> Message:
    return {**message, "content": ending_with(message["content"], text)}


def _read(reply: Reply, request: Request) -> Reply:
    """Converts a written call in the reply to a tool call, and a written answer to plain text."""
    try:
        written = json.loads(reply.text)
    except (ValueError, RecursionError):
        written = None
    if is_object(written) and set(written) == {"tool", "arguments"}:
        call = ToolRequest(str(written["tool"]), _json(written["arguments"]))
        return replace(reply, text="", tool_calls=(call,), finish="tool_calls")
    if is_object(written) and set(written) == {"answer"}:
        answer = written["answer"]
        is_text = request.schema is None and isinstance(answer, str)
        return replace(reply, text=answer if is_text else _json(answer))
    begun = _BEGUN_ANSWER.match(reply.text)
    if begun is not None and request.schema is None:  # the token limit has cut the reply
        return replace(reply, text=_unescaped(reply.text[begun.end() :]))
    return reply


def _calls(messages: Iterable[Message]) -> Iterator[tuple[str, str]]:
    """Yields a pair for each call in the messages: the call as text, and its result."""
    written: dict[str, str] = {}
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call["function"]
            written[call["id"]] = _written(function["name"], function["arguments"])
        if message["role"] == "tool":
            yield written[message["tool_call_id"]], text_of(message["content"])


def _written(name: str, arguments: str) -> str:
    return f"{name}({arguments})"


def _explanation(tools: Sequence[dict[str, Any]], calls: Sequence[tuple[str, str]]) -> str:
    lines: list[str] = []
    if tools:
        lines.append("You have these tools:")
        lines += [_line(tool["function"]) for tool in tools]
    if calls:
        lines.append("They gave:" if tools else "The tools gave:")
        lines += [f"- {written}: {result}" for written, result in calls]
    if tools:
        answer = 'Answer with {"answer": ...}, or reply' if calls else "Reply"
        lines.append(f'{answer} with {{"tool": ..., "arguments": ...}} to call one.')
    return "\n".join(lines)


def _line(function: dict[str, Any]) -> str:
    names = ", ".join(function["parameters"].get("properties", {}))
    about = " ".join(function.get("description", "").split())
    return f"- {function['name']}({names})" + (f": {about}" if about else "")


def _call_form(function: dict[str, Any]) -> dict[str, Any]:
    name = {"type": "string", "enum": [function["name"]]}
    return _object(tool=name, arguments=function["parameters"])


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _one_of(forms: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns a schema that accepts whatever one of the schemas in `forms` accepts.

    Moves the definitions in these schemas to the root of the new schema.
    """
    definitions: dict[str, Any] = {}
    plain = [_without_definitions(form, definitions) for form in forms]
    whole = plain[0] if len(plain) == 1 else {"anyOf": plain}
    return {**whole, "$defs": definitions} if definitions else whole


def _without_definitions(form: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name, schema in form["properties"].items():
        found.update(schema.get("$defs", {}))
        properties[name] = {key: part for key, part in schema.items() if key != "$defs"}
    return {**form, "properties": properties}


def _unescaped(text: str) -> str:
    """Decodes the content of a JSON string whose closing quote is missing."""
    for end in (len(text), text.rfind("\\")):
        try:
            return str(json.loads(f'"{text[:end]}"', strict=False))
        except ValueError:
            continue
    return text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
