"""Assembles a message of Anthropic's Messages API from the events of a stream."""

from __future__ import annotations

import json
from typing import Any

from runtime_support._values.kinds import is_list
from runtime_support.providers._wires.bodies import ReplyReader, object_at
from runtime_support.providers._wires.events import EventReader, joined

# The fields of a block that arrive in chunks: by delta type, the delta's field and the block's.
_GROWING = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}


class MessagesEvents(EventReader):
    """Assembles a message from events."""

    def __init__(self, reader: ReplyReader) -> None:
        super().__init__(reader)
        self._body: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self._is_over = False

    @property
    def is_whole(self) -> bool:
        """True if the server has sent a stop reason."""
        return self._body.get("stop_reason") is not None

    @property
    def is_over(self) -> bool:
        """True after the event `message_stop`."""
        return self._is_over

    def _take(self, event: dict[str, Any]) -> str:
        place: Any = event.get("index")
        match event.get("type"):
            case "message_start":
                self._body |= object_at(event, "message")
            case "content_block_start" if isinstance(place, int):
                block = object_at(event, "content_block")
                self._blocks[place] = block
                if block.get("type") == "text":  # most texts begin empty
                    return self._text.add(str(block.get("text") or ""))
            case "content_block_delta" if isinstance(place, int) and place in self._blocks:
                return self._add(place, object_at(event, "delta"))
            case "message_delta":
                # The counts are cumulative; missing ones keep their values.
                told = object_at(event, "usage")
                counts = {name: one for name, one in told.items() if one is not None}
                usage = {**object_at(self._body, "usage"), **counts}
                self._body |= {**object_at(event, "delta"), "usage": usage}
            case "message_stop":
                self._is_over = True
            case _:
                pass
        return ""

    def _add(self, place: int, delta: dict[str, Any]) -> str:
        kind = str(delta.get("type"))
        if kind == "citations_delta":
            block = self._blocks[place]
            known = block.get("citations")
            citations = block["citations"] = known if is_list(known) else list[Any]()
            citations.append(delta.get("citation"))
        if kind not in _GROWING:
            return ""
        name, own = _GROWING[kind]
        piece = str(delta.get(name) or "")
        self._pieces.setdefault((place, own), []).append(piece)
        return self._text.add(piece) if kind == "text_delta" else ""

    def _whole(self) -> dict[str, Any]:
        for (place, name), pieces in self._pieces.items():
            block, whole = self._blocks[place], joined(pieces)
            if name != "input":
                block[name] = str(block.get(name) or "") + whole
            elif whole:
                block[name] = _input(whole)
        return {**self._body, "content": [self._blocks[place] for place in sorted(self._blocks)]}


def _input(text: str) -> Any:
    """Returns the parsed arguments of a call, or their text if it was cut off."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


EVENTS = MessagesEvents
