"""Prepares the messages of a conversation so that any server accepts them.

    sendable(request.messages)          the messages, without what servers reject
    sendable_name("functions.temp")     "unknown_tool"
    with_replies(messages, origin)      each message, with its reply if this server gave it

A model may write something that its own server rejects as input: an invalid tool name, an empty
message, trailing reasoning. Every wire passes its messages through this module. The tool's result
or a reminder tells the model about its mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from runtime_support._core.messages import (
    AssistantMessage,
    Message,
    Origin,
    Reply,
    ToolErrorMessage,
)
from runtime_support._values.predicates import is_list, is_object

# The tool names that OpenAI, Anthropic and Bedrock accept; others accept more.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_STAND_IN = "unknown_tool"
_EMPTY = "(empty)"
# The result of a call that was not made: APIs require a result for each call.
_NOT_CALLED = "not called: nothing was missing any more"


def sendable(messages: Iterable[Message]) -> list[Message]:
    """Returns the messages in a form that servers accept.

    - Every call has a valid tool name.
    - No tool result is empty.
    - Every message of the model has text or calls. A message without both is dropped, and the user
      messages around it are joined, as some models refuse two user messages in a row.
    """
    sent: list[Message] = []
    has_left_out = False
    for message in messages:
        role, content = message["role"], message.get("content")
        if role == "assistant" and not message.get("tool_calls") and not _has_text(content):
            has_left_out = True
            continue
        before = sent[-1] if has_left_out and sent else None
        has_left_out = False
        if before is not None and role == before["role"] == "user":
            sent[-1] = {**before, "content": _joined(before["content"], content)}
        else:
            sent.append(_mended(message))
    return sent


def split_system(messages: list[Message]) -> tuple[str, list[Message]]:
    """Returns the text of the system message, or "", and the other messages."""
    if messages and messages[0]["role"] == "system":
        return messages[0]["content"], messages[1:]
    return "", messages


def with_replies(
    messages: Iterable[Message], origin: Origin
) -> Iterator[tuple[Message, Reply | None]]:
    """Yields each message with the `Reply` that it was made from, or with None.

    The reply is given only if it came from `origin`, the server that gets the messages. Then the
    message's calls, and the results of these calls, have the server's ids. If such a call has no
    result, a result is added, which says that the call was not made.
    """
    ids: dict[str, str] = {}  # the server's ids, by ours
    open_: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            identity = ids.get(message["tool_call_id"], message["tool_call_id"])
            open_ = [one for one in open_ if one != identity]
            changed = {**message, "tool_call_id": identity}
            yield (
                ToolErrorMessage(changed) if isinstance(message, ToolErrorMessage) else changed,
                None,
            )
            continue
        yield from map(_not_called, open_)
        open_ = []
        reply = message.reply if isinstance(message, AssistantMessage) else None
        if reply is None or reply.origin != origin:
            yield message, None
            continue
        calls = message.get("tool_calls", ())
        pairs = zip(calls, reply.tool_calls, strict=True)
        ids |= {call["id"]: asked.id or call["id"] for call, asked in pairs}
        open_ = [*dict.fromkeys([*(ids[call["id"]] for call in calls), *_called(reply)])]
        own = [{**call, "id": ids[call["id"]]} for call in calls]
        yield {**message, **({"tool_calls": own} if own else {})}, reply
    yield from map(_not_called, open_)


def _called(reply: Reply) -> list[str]:
    """Returns the ids of all calls in a reply's opaque parts.

    These parts are sent back unchanged. The message that was made from the reply may lack some of
    the calls.
    """
    parts = own_parts(reply, "output") or own_parts(reply, "content") or []
    calls = [one for one in parts if one.get("type") in ("function_call", "tool_use")]
    return [one.get("call_id") or one["id"] for one in calls]


def own_parts(reply: Reply | None, name: str) -> list[dict[str, Any]] | None:
    """Returns the list `name` in a reply's opaque parts, which is sent back unchanged.

    Returns None if there is no reply, or if the reply has no such list.
    """
    parts = reply and (reply.opaque or {}).get(name)
    return parts if is_list(parts) and all(map(is_object, parts)) else None


def _not_called(identity: str) -> tuple[Message, None]:
    return {"role": "tool", "tool_call_id": identity, "content": _NOT_CALLED}, None


def sendable_name(name: object) -> str:
    """Returns the name of a called tool, or `unknown_tool` if servers do not accept the name."""
    return name if isinstance(name, str) and _NAME.fullmatch(name) else _STAND_IN


def without_last_thoughts(
    parts: Sequence[dict[str, Any]], kinds: Sequence[str]
) -> list[dict[str, Any]]:
    """Returns the parts of a reply without the reasoning at its end.

    `kinds` are the types of the parts with reasoning.
    """
    end = len(parts)
    while end and parts[end - 1].get("type") in kinds:
        end -= 1
    return list(parts[:end])


def _mended(message: Message) -> Message:
    made = dict(message)
    if message["role"] == "tool":
        made["content"] = message["content"] or _EMPTY
    elif message.get("tool_calls"):
        made["content"] = message["content"] if _has_text(message["content"]) else None
        made["tool_calls"] = [_renamed(call) for call in message["tool_calls"]]
    if made == message:
        return message
    if isinstance(message, AssistantMessage):
        return AssistantMessage(made, message.reply)
    return ToolErrorMessage(made) if isinstance(message, ToolErrorMessage) else made


def _renamed(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {**call, "function": {**function, "name": sendable_name(function["name"])}}


def _has_text(content: Any) -> bool:
    return bool(content.strip() if isinstance(content, str) else content)


def _joined(first: Any, second: Any) -> Any:
    """Joins the contents of two user messages."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    texts = (
        [{"type": "text", "text": one}] if isinstance(one, str) else one for one in (first, second)
    )
    return [part for parts in texts for part in parts]
