"""Passes lines of input from the page of `saftc play` to the script that reads them.

Before the script reads a line, an event in the live file tells the page what the line is for:

    {"event": "reads"}                     the script reads a line of text
    {"event": "waits", "shown": ...}       a call waits for a decision, as `saftc approve` shows it
    {"event": "begun"}, {"event": "done"}  the script has started, and has ended
"""

import json
import sys
import threading
from io import TextIOWrapper
from typing import Any

from saftc.trace.live import append_line


class PageInput(TextIOWrapper):
    """Standard input that asks the person at the page before it reads a line."""

    def __init__(self, live: str) -> None:
        super().__init__(sys.stdin.buffer, "utf-8", "replace")
        self._live = live
        # Held during a question, as the page answers one question at a time.
        self._turn = threading.Lock()

    def show(self, event: dict[str, Any]) -> None:
        """Writes an event for the page to the live file."""
        append_line(self._live, json.dumps(event))

    def answer(self, question: dict[str, Any], size: int = -1) -> str:
        """Shows a question at the page.

        Returns the person's line, or "" at the end of the input.
        """
        with self._turn:
            self.show(question)
            return super().readline(size)

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Asks the person for a line of text, and returns the line."""
        return self.answer({"event": "reads"}, size)

    def read(self, size: int | None = -1, /) -> str:
        """Asks the person for lines, and returns all lines until the person ends the input."""
        with self._turn:
            self.show({"event": "reads"})
            return super().read(size)


def attend(live: str) -> PageInput:
    """Replaces `sys.stdin` by an input that asks the person at the page of `saftc play`.

    The page reads the questions from the file `live`.
    """
    asked = sys.stdin = PageInput(live)
    asked.show({"event": "begun"})
    return asked


def show_end() -> None:
    """Tells the page that the script has ended. Without a page, it does nothing."""
    if isinstance(sys.stdin, PageInput):
        sys.stdin.show({"event": "done"})
