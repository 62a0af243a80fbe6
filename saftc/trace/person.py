"""The person at the page of `saftc play`, who writes the lines of standard input.

Before a line is read, the live file says what it is for:

    {"event": "reads"}                     the script reads a line of text
    {"event": "waits", "shown": ...}       a call waits for a decision, as `saftc approve` shows it
    {"event": "begun"}, {"event": "done"}  the script begins, and has ended
"""

import json
import sys
import threading
from io import TextIOWrapper
from typing import Any

from saftc.trace.live import append_line


class AskedLines(TextIOWrapper):
    """Standard input whose lines the page asks for."""

    def __init__(self, live: str) -> None:
        super().__init__(sys.stdin.buffer, "utf-8", "replace")
        self._live = live
        # The page answers one question at a time.
        self._turn = threading.Lock()

    def show(self, event: dict[str, Any]) -> None:
        """Writes an event for the page."""
        append_line(self._live, json.dumps(event))

    def answer(self, question: dict[str, Any], size: int = -1) -> str:
        """Asks a question; returns the line that answers it, empty at the end of input."""
        with self._turn:
            self.show(question)
            return super().readline(size)

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Asks for a line; returns it to the script."""
        return self.answer({"event": "reads"}, size)

    def read(self, size: int | None = -1, /) -> str:
        """Asks for lines; returns all until the person ends the input."""
        with self._turn:
            self.show({"event": "reads"})
            return super().read(size)


def attend(live: str) -> AskedLines:
    """Connects the script's input to the person at the page; the page follows the file `live`."""
    asked = sys.stdin = AskedLines(live)
    asked.show({"event": "begun"})
    return asked


def show_end() -> None:
    """Tells the page that the script has ended; later events are about the run."""
    if isinstance(sys.stdin, AskedLines):
        sys.stdin.show({"event": "done"})
