"""What goes back to a server of a conversation, so that any server takes it.

    sendable(request.messages)          the messages, without what servers refuse
    sendable_name("functions.temp")     "unknown_tool"

A model may write what its own server refuses to read again: a name that no tool can have, nothing
at all, thoughts that nothing follows. Each wire sends its messages through here. What the model did
wrong, it is told in the answer of the tool, or in the reminder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from runtime_support._exchange import FailedCall, Message, Said

# The names that OpenAI, Anthropic and Bedrock take; others take more.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_STAND_IN = "unknown_tool"
_EMPTY = "(empty)"


def sendable(messages: Iterable[Message]) -> list[Message]:
    """The messages as servers take them.

    - A call has a name that a tool could have.
    - The result of a tool is not empty.
    - A message of the model has text or calls; one with neither is left out, and the messages of
      the user around it become one, as some models take no two in a row.
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


def sendable_name(name: object) -> str:
    """The name of a called tool, or one that stands for it where no tool can have it."""
    return name if isinstance(name, str) and _NAME.fullmatch(name) else _STAND_IN


def sendable_arguments(text: object) -> str:
    """The arguments of a call as JSON text; those of no call where they are no object."""
    try:
        is_read = isinstance(text, str) and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        is_read = False
    return str(text) if is_read else "{}"


def without_last_thoughts(
    parts: Sequence[dict[str, Any]], kinds: Sequence[str]
) -> list[dict[str, Any]]:
    """The parts of a reply without the thoughts at its end, which belong to nothing that is sent.

    `kinds` are the types of parts that are thoughts.
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
    if isinstance(message, Said):
        return Said(made, message.reply)
    return FailedCall(made) if isinstance(message, FailedCall) else made


def _renamed(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {**call, "function": {**function, "name": sendable_name(function["name"])}}


def _has_text(content: Any) -> bool:
    return bool(content.strip() if isinstance(content, str) else content)


def _joined(first: Any, second: Any) -> Any:
    """The contents of two messages of the user as one."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    texts = (
        [{"type": "text", "text": one}] if isinstance(one, str) else one for one in (first, second)
    )
    return [part for parts in texts for part in parts]
