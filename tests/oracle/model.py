"""A scripted model that answers by a mark in the prompt, and what was asked of it.

A prompt that holds `#3` gets the replies queued under 3, one for each request of its conversation;
so the order in which a script asks need not be known. `Asked` is what a request says, in the form
in which the interpreter's requests and those of the compiled module are compared.
"""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime_support._core.messages import Reply, Request, ToolRequest
from runtime_support.errors import ProviderError

_MARK = re.compile(r"#(\d+)")
FAILED = "(error)"
# What follows the prompt's text in a first message: the contract, or the call for return tools.
_CALLS = "\n\nAnswer by calling each of these tools once"
_PROGRAM = "\n\nAnswer with one program"
_ENDINGS = ("\n\nReply with JSON only, no other text", _CALLS, _PROGRAM)
# The form of a program, and the functions that it may call.
PROGRAM = "program"
_CALLABLE = re.compile(r"^(\w+)\(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool that the model asks for."""

    tool: str
    arguments: Mapping[str, Any]


Answer = str | tuple[ToolUse, ...]
Script = Mapping[int, Sequence[Answer]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: the prompt's text, the tools offered, and what was said and answered since.

    `form` is the notation of the type that is asked for; empty for text. `before` is what was said
    in the conversation that the prompt goes on with.
    """

    text: str
    form: str
    tools: tuple[str, ...]
    since: tuple[str, ...]
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about a call: the arguments with which it is made, None if it is not."""

    arguments: Mapping[str, Any] | None
    is_changed: bool = False


def decide(tool: str, arguments: Mapping[str, Any]) -> Decided:
    """What is decided about a call, which its words alone say: so it does not matter who asks
    first. Whole numbers and bools can be changed, which are of the same type then.
    """
    sent = json.dumps(arguments, sort_keys=True, default=str)
    word = zlib.crc32(f"{tool} {sent}".encode()) % 5
    if word == 0:
        return Decided(None)
    is_plain = all(isinstance(one, int | str | None) for one in arguments.values())
    if word > 2 or not is_plain:
        return Decided(arguments)
    changed = {name: _changed(one) for name, one in arguments.items()}
    return Decided(changed, is_changed=True)


def _changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else value


class Exhausted(Exception):
    """There is no reply for a request."""


def answer(script: Script, text: str, turn: int) -> Answer:
    """The reply to the request number `turn` (from 0) of the conversation about `text`."""
    mark = _MARK.search(text)
    replies = script.get(int(mark[1]), ()) if mark else ()
    if turn >= len(replies):
        raise Exhausted(text)
    return replies[turn]


class ModelOf:
    """The provider that compiled modules ask; `asked` holds the requests in order."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []

    def complete(self, request: Request) -> Reply:
        """The scripted reply."""
        begins = _begins(request)
        self.asked.append(_asked(request, begins))
        opening, *later = request.messages[begins:]
        turn = sum(message["role"] == "assistant" for message in later)
        try:
            found = answer(self.script, opening["content"], turn)
        except Exhausted:
            raise ProviderError("the script of replies is over") from None
        if isinstance(found, str):
            return Reply(found, model="scripted")
        calls = tuple(ToolRequest(use.tool, json.dumps(use.arguments)) for use in found)
        return Reply("", tool_calls=calls, finish="tool_calls", model="scripted")


def _begins(request: Request) -> int:
    """Where the message stands that asks: the last one with a mark."""
    marked = [place for place, message in enumerate(request.messages) if _is_opening(message)]
    return marked[-1] if marked else 0


def _is_opening(message: Mapping[str, Any]) -> bool:
    return message["role"] == "user" and _MARK.search(message["content"]) is not None


def _asked(request: Request, begins: int) -> Asked:
    opening, *later = request.messages[begins:]
    text, ending = _parted(opening["content"])
    form, names = _form(ending), [tool["function"]["name"] for tool in request.tools]
    if opening["content"].removeprefix(text).startswith(_PROGRAM):
        form, names = PROGRAM, [*names, *_CALLABLE.findall(ending)]
    before = tuple(map(_said, request.messages[:begins]))
    return Asked(text, form, tuple(sorted(names)), tuple(map(_said, later)), before)


def _parted(text: str) -> tuple[str, str]:
    """The text of a prompt, and what follows it in its message."""
    ending = ""
    for first in _ENDINGS:
        if first in text:
            text, _, ending = text.rpartition(first)
    return text, ending


def _form(ending: str) -> str:
    if not ending or ending.startswith(", with the value"):
        return ""
    return "any" if ending == "." else re.split(r":\s", ending.removeprefix(","), maxsplit=1)[-1]


def _said(message: Mapping[str, Any]) -> str:
    if "tool_calls" in message:
        return "calls " + " ".join(call["function"]["name"] for call in message["tool_calls"])
    if message["role"] == "tool":
        content = message["content"]
        if content.startswith("kept"):
            return "result kept"
        return FAILED if content.startswith("error: ") else f"result {content}"
    if _is_opening(message):
        return f"asked {_parted(message['content'])[0]}"
    return "again" if message["role"] == "user" else f"said {message['content']}"
