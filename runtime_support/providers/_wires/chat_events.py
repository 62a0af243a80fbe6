"""Assembles a chat completion from the chunks of a stream."""

from __future__ import annotations

import json
from typing import Any

from runtime_support._values.predicates import is_list, is_object
from runtime_support.providers._wires.bodies import ReplyReader, object_at
from runtime_support.providers._wires.chat import (
    OF_CALLS,
    OF_REPLIES_WITH_CALLS,
    first_choice,
    parts_of,
    text_of,
)
from runtime_support.providers._wires.events import EventReader, joined


class ChatEvents(EventReader):
    """Assembles a chat completion from chunks."""

    def __init__(self, reader: ReplyReader) -> None:
        super().__init__(reader)
        self._body: dict[str, Any] = {}
        self._refusals: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._call_at: dict[Any, dict[str, Any]] = {}
        self._thoughts: dict[str, list[str]] = {}
        self._details: list[list[Any]] | None = None
        self._finish: Any = None

    @property
    def is_whole(self) -> bool:
        """True if the server has sent a finish reason."""
        return self._finish is not None

    def end(self) -> None:
        """Marks a reply without a finish reason as complete.

        A reply with calls stays incomplete, as their arguments may be cut off.
        """
        if not self._calls:
            self._finish = "[DONE]"

    def _take(self, chunk: dict[str, Any], /) -> str:
        self._body.update({key: chunk[key] for key in ("model", "usage") if chunk.get(key)})
        choice = first_choice(chunk)
        if choice.get("index"):  # of another reply, as `n` in `extra_body` asks for
            return ""
        if is_object(choice.get("error")):
            raise self._reader.reported(choice["error"])
        self._finish = choice.get("finish_reason") or self._finish
        # Some servers send the whole message in one chunk.
        delta = object_at(choice, "delta") or object_at(choice, "message")
        if delta.get("refusal"):
            self._refusals.append(str(delta["refusal"]))
        self._add_calls(delta.get("tool_calls"))
        self._add_thoughts(delta)
        return self._text.add(text_of(delta.get("content")))

    def _whole(self) -> dict[str, Any]:
        message: dict[str, Any] = {
            "content": self._text.whole,
            "refusal": "".join(self._refusals),
            "tool_calls": self._calls,
            "reasoning_details": self._details and list(map(_whole_detail, self._details)),
            **{name: joined(pieces) for name, pieces in self._thoughts.items()},
        }
        return {**self._body, "choices": [{"finish_reason": self._finish, "message": message}]}

    def _add_calls(self, calls: Any) -> None:
        """Adds chunks of tool calls. A tool's name is added once, even if each chunk repeats it."""
        for piece in calls if is_list(calls) else ():
            call = piece if is_object(piece) else {}
            function, key = object_at(call, "function"), call.get("index")
            identity = call.get("id")
            name = function.get("name") or ""
            known = self._known_call(key, identity or None, name)
            own: dict[str, Any] = known or {"id": identity, "function": dict.fromkeys(_TEXTS, "")}
            if known is None:
                self._calls.append(own)
                if isinstance(key, int):
                    self._call_at[key] = own
            own["id"] = own["id"] or identity
            own |= parts_of(call, OF_CALLS)
            text = own["function"]
            text["name"] += "" if name == text["name"] else str(name)
            arguments = function.get("arguments")
            if arguments is not None and not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False)
            text["arguments"] += arguments or ""

    def _known_call(self, key: Any, identity: Any, name: Any) -> dict[str, Any] | None:
        """Returns the call that a chunk continues, or None if the chunk starts a call.

        The chunks of a call share an index, or else an id. A chunk without index, id and name
        continues the last call. As Gemini gives all calls of a reply the same index, a name with a
        new id starts a call.
        """
        if isinstance(key, int):
            known = self._call_at.get(key)
            differs = known is not None and name and _differ(identity, known["id"] or None)
            return None if differs else known
        if identity is not None:
            return next((one for one in self._calls if one["id"] == identity), None)
        return self._calls[-1] if self._calls and not name else None

    def _add_thoughts(self, delta: dict[str, Any]) -> None:
        """Adds reasoning, which arrives as text, as `reasoning_details`, or as both."""
        for name, value in parts_of(delta, OF_REPLIES_WITH_CALLS).items():
            if is_list(value):
                self._details = self._details or []
                for piece in value:
                    if self._details and _goes_on(self._details[-1], piece):
                        self._details[-1].append(piece)
                    else:
                        self._details.append([piece])
            elif isinstance(value, str):
                self._thoughts.setdefault(name, []).append(value)


_TEXTS = ("name", "arguments")

# The types of reasoning details that arrive in chunks, each with the field to concatenate.
_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary"}


def _goes_on(pieces: list[Any], piece: Any) -> bool:
    """True if the chunk `piece` continues the reasoning detail made of the chunks `pieces`.

    An equal index proves nothing, as the index may be 0 in all chunks. A signature ends the text of
    a detail: a chunk after it continues the detail only if the chunk has no text.
    """
    first, last = pieces[0], pieces[-1]
    field = _GROWING.get(str(first.get("type") if is_object(first) else None))
    if field is None or not is_object(piece) or not isinstance(piece.get(field), str | None):
        return False
    names = ("type", "index", "id")
    if any(_differ(piece.get(name), one.get(name)) for one in (first, last) for name in names):
        return False
    return not (last.get("signature") and piece.get(field))


def _whole_detail(pieces: list[Any]) -> Any:
    """Joins the chunks of one reasoning detail."""
    if len(pieces) == 1:
        return pieces[0]
    parts = {n: part for one in reversed(pieces) for n, part in one.items() if part is not None}
    field = _GROWING[parts["type"]]
    return {**parts, field: joined([one[field] for one in pieces if one.get(field)])}


def _differ(one: Any, other: Any) -> bool:
    return one is not None and other is not None and one != other


EVENTS = ChatEvents
