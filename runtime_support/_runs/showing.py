"""What somebody at a terminal sees of a run: a line while it lasts, and its sum at the end.

    14 prompts, 3 in flight, 5,120 tokens, 12 s             on standard error, while prompts wait
    saft: 17 prompts: 19 requests, 6,240 tokens, 14 s       at the end: SAFT_USAGE=1, or after 10 s

The line comes after two seconds and only at a terminal; it goes away before anything else is
written there, and at the end. With SAFT_USAGE=0 there is neither.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO

from runtime_support._runs.spending import spending_here
from runtime_support._values import counted

SHOWN_AFTER = 2.0
SUMMED_AFTER = 10.0
_EVERY = 0.2
_ERASE = "\r\x1b[K"


class Line:
    """The line at the bottom of a terminal: what `text` gives, as long as that is something."""

    def __init__(self, stream: TextIO, text: Callable[[], str]) -> None:
        is_refused = os.environ.get("SAFT_USAGE") == "0" or os.environ.get("TERM") == "dumb"
        self.is_wanted = stream.isatty() and not is_refused
        self._stream = stream
        self._text = text
        self._write: Callable[[str], Any] = stream.write
        self._lock = threading.RLock()
        self._is_shown = False
        self._is_in_line = False  # something was written that has no line end yet
        if self.is_wanted:
            for other in {id(one): one for one in (sys.stdout, stream)}.values():
                if other is not None and other.isatty():
                    self._watch(other)
            atexit.register(self.erase)
            threading.Thread(target=self._run, name="saft progress", daemon=True).start()

    def erase(self) -> None:
        """Takes the line away."""
        with self._lock:
            if self._is_shown:
                self._write(_ERASE)
                self._stream.flush()
                self._is_shown = False

    def _watch(self, stream: TextIO) -> None:
        """Has the line go away before anything is written to this stream."""
        write: Callable[[str], int] = stream.write

        def after_erasing(text: str) -> int:
            with self._lock:
                self.erase()
                self._is_in_line = not text.endswith("\n") if text else self._is_in_line
                return write(text)

        setattr(stream, "write", after_erasing)  # noqa: B010

    def _run(self) -> None:
        while True:
            time.sleep(_EVERY)
            text = self._text()
            if text:
                self._show(text)
            else:
                self.erase()

    def _show(self, text: str) -> None:
        with self._lock:
            if not self._is_in_line:
                self._write(_ERASE + text)
                self._stream.flush()
                self._is_shown = True


def _of_prompts() -> str:
    """How far the prompts of the process are; nothing while none is asked."""
    spending = spending_here()
    if not spending.in_flight or spending.seconds() < SHOWN_AFTER:
        return ""
    done = counted(spending.prompts, "prompt")
    tokens = counted(spending.total.tokens, "token")
    return f"{done}, {spending.in_flight} in flight, {tokens}, {spending.seconds():.0f} s"


_line: Line | None = None
_lock = threading.Lock()


def show_progress(text: Callable[[], str] = _of_prompts) -> None:
    """From now on a line tells how far the run is, where somebody can see it.

    The first call says what is shown.
    """
    global _line
    # Python has no stream where it was closed.
    if _line is None and sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
        with _lock:
            if _line is None:
                _line = Line(sys.stderr, text)
