"""Assembles a response of OpenAI's Responses API from the events of a stream."""

from __future__ import annotations

from typing import Any

from runtime_support._values.kinds import brief, is_list
from runtime_support.providers._wires.bodies import ReplyReader, object_at
from runtime_support.providers._wires.events import EventReader
from runtime_support.providers._wires.responses import is_aside


class ResponsesEvents(EventReader):
    """Assembles a response from events."""

    def __init__(self, reader: ReplyReader) -> None:
        super().__init__(reader)
        self._items: dict[int, Any] = {}
        self._asides: set[int] = set()
        self._response: dict[str, Any] | None = None

    @property
    def is_whole(self) -> bool:
        """True if the final event has arrived."""
        return self._response is not None

    @property
    def is_over(self) -> bool:
        """True if the final event has arrived."""
        return self._response is not None

    def _take(self, event: dict[str, Any]) -> str:
        place: Any = event.get("output_index")
        match event.get("type"):
            case _ if place is not None and not isinstance(place, int):
                raise ValueError(f"it has no item at {brief(place)}")
            case "response.output_text.delta" if place not in self._asides:
                return self._text.add(str(event.get("delta") or ""))
            case "response.output_item.added" if is_aside(event.get("item")) and place is not None:
                self._asides.add(place)
            case "response.output_item.done" if isinstance(place, int):
                self._items[place] = event.get("item")
            case "response.completed" | "response.incomplete" | "response.failed":
                self._response = object_at(event, "response")
            case "error":
                raise self._reader.reported(event)
            case _:
                pass
        return ""

    def _whole(self) -> dict[str, Any]:
        body = self._reader.checked(self._response)
        told = body.get("output")
        # Finished items are complete; some servers leave them out of the final event.
        items = {**dict(enumerate(told if is_list(told) else ())), **self._items}
        output = [items[place] for place in sorted(items)]
        return {**body, "output": output, "output_text": self._text.whole}


EVENTS = ResponsesEvents
