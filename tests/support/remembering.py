"""A server that refuses a conversation in which its own words do not come back as they were.

    server.responder = Remembering([{"content": None, "tool_calls": [...]}, {"content": "done"}])

So do Gemini, whose calls have signatures, and DeepSeek with what a model has thought.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import Any

from tests.support.fake_server import Answer, chunk, ending, events, message, status

_OF_CALLS = ("id", "type", "function", "extra_content")
_ALWAYS = ("content", "reasoning_details")
_WITH_CALLS = (*_ALWAYS, "reasoning_content", "reasoning")


def signed(name: str, identity: str, signature: str | None = None, **arguments: Any) -> Any:
    """A call of a tool as Gemini writes it; of several, only the first has a signature."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call: dict[str, Any] = {"id": identity, "type": "function", "function": function}
    if signature is not None:
        call["extra_content"] = {"google": {"thought_signature": signature}}
    return call


class Remembering:
    """Says these messages in order, and knows them again."""

    def __init__(self, says: Iterable[dict[str, Any]]) -> None:
        self._says = list(says)
        self._said: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Answer:
        wrong = self.mistake(body["messages"])
        if wrong:
            return status(400, wrong)
        with self._lock:
            fields = self._says.pop(0)
            self._said.append(_as_it_comes_back(fields))
        finish = "tool_calls" if fields.get("tool_calls") else "stop"
        if body.get("stream"):
            return events([chunk(fields), *ending(finish)])
        return message({"role": "assistant", **fields}, finish)

    def says(self, fields: dict[str, Any]) -> None:
        """Has it say this next."""
        self._says.append(fields)

    def mistake(self, messages: list[dict[str, Any]]) -> str:
        """What is wrong with what came back."""
        ids: list[str] = []
        for one in messages:
            if one["role"] == "assistant":
                if {name: part for name, part in one.items() if name != "role"} not in self._said:
                    return f"Function call is missing a thought_signature: {one} of {self._said}"
                ids = [call["id"] for call in one.get("tool_calls", ())]
            elif one["role"] == "tool" and ids[:1] != [one["tool_call_id"]]:
                return f"no such call: {one}"
            else:
                ids = ids[1:]
        return ""


def _as_it_comes_back(fields: dict[str, Any]) -> dict[str, Any]:
    calls = fields.get("tool_calls")
    names = _WITH_CALLS if calls else _ALWAYS
    back = {name: fields[name] for name in names if fields.get(name) is not None}
    back["content"] = fields["content"]
    if calls:
        back["tool_calls"] = [
            {name: call[name] for name in _OF_CALLS if name in call} for call in calls
        ]
    return back
