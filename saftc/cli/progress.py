"""A progress line at the bottom of a terminal.

    checking triage.saft                                          on standard error, at once
    14 of at most 50 prompts, 3 in flight, 5,120 tokens, 12 s     while prompts wait
    14 of at most 50 prompts, waiting 8 s for 127.0.0.1 (503), 3 in flight, 5,120 tokens, 12 s

The line is erased before other text is written to the terminal, and when the process ends.
SAFT_USAGE=0 switches the line off.
"""

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any, TextIO

from saftc.reporting import width_of

SHOWN_AFTER = 0.5
BOUNDED_AFTER = 2.0
SUMMED_AFTER = 10.0
_EVERY = 0.2
_ERASE = "\r\x1b[K"


def is_shown_on(stream: TextIO | None) -> bool:
    """Whether `stream` is a terminal, and SAFT_USAGE does not switch the progress line off."""
    is_refused = os.environ.get("SAFT_USAGE") == "0" or os.environ.get("TERM") == "dumb"
    # `sys.stderr` is None if the descriptor was closed at the start.
    return stream is not None and stream.isatty() and not is_refused


class ProgressLine:
    """A progress line that shows the result of `text()`. It is hidden while the result is empty.

    It replaces the `write` methods of the process's streams. Commands may do this, as they own the
    process.
    """

    def __init__(self, stream: TextIO, text: Callable[[], str]) -> None:
        self._stream = stream
        self.text = text
        self._write: Callable[[str], Any] = stream.write
        self._lock = threading.RLock()
        self._is_shown = False
        self._is_in_line = False  # whether the last text written did not end with a line end
        for other in {id(one): one for one in (sys.stdout, stream)}.values():
            if other is not None and other.isatty():
                self._watch(other)
        atexit.register(self._end)
        self.show()
        threading.Thread(target=self._run, name="saftc progress", daemon=True).start()

    def show(self) -> None:
        """Shows the current text, or hides the line if the text is empty."""
        text = self.text()
        if text:
            self._show(text)
        else:
            self.erase()

    def erase(self) -> None:
        """Erases the line from the terminal until it is shown again."""
        with self._lock:
            if self._is_shown:
                self._write(_ERASE)
                self._stream.flush()
                self._is_shown = False

    def _end(self) -> None:
        with self._lock:
            self.text = str
            self.erase()

    def _watch(self, stream: TextIO) -> None:
        """Replaces the `write` method of `stream` by one that erases the line first."""
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
            self.show()

    def _show(self, text: str) -> None:
        with self._lock:
            if not self._is_in_line:
                self._write(_ERASE + _cut(text, width_of(self._stream) or 80))
                self._stream.flush()
                self._is_shown = True


def _cut(text: str, width: int) -> str:
    """Drops the last comma-separated parts of `text` until it fits in a line of `width`."""
    while len(text) >= width and ", " in text:
        text = text.rpartition(", ")[0]
    return text[: width - 1]


def show_status(text: str) -> None:
    """Shows `text` as the progress line of a terminal, until `end_status` or the next text."""
    if is_shown_on(sys.stderr):
        show_line(lambda: text)


def end_status() -> None:
    """Erases the text that `show_status` has shown."""
    if _line is not None:
        show_line(str)


def show_prompts(most: Callable[[], int | None]) -> None:
    """Shows the progress of this process's prompts at a terminal.

    `most` returns an upper bound for the number of prompts, or None. It is called only if the
    prompts take long, and at most once.
    """
    if is_shown_on(sys.stderr):
        show_line(partial(_of_prompts, cache(most)))


def show_line(text: Callable[[], str]) -> None:
    """Shows the result of `text()` in the progress line. The line is hidden while it is empty."""
    global _line
    if _line is None:
        _line = ProgressLine(sys.stderr, text)
    else:
        _line.text = text
        _line.show()


_line: ProgressLine | None = None


def report_usage() -> None:
    """Reports the usage of the run's prompts if SAFT_USAGE asks for it.

    At a terminal, the usage is also reported after a run that took ten seconds.
    """
    from runtime_support._core.spending import current_meter

    spending = current_meter()
    if spending.prompts or spending.in_flight:
        from runtime_support import _budgets as budgets

        is_long = spending.seconds() >= SUMMED_AFTER
        budgets.report_usage(is_wanted=is_long and is_shown_on(sys.stderr))


def _of_prompts(most: Callable[[], int | None]) -> str:
    """The text of the progress line about this process's prompts.

    The text is empty while no prompt is in flight.
    """
    from runtime_support._core.spending import current_meter
    from runtime_support._values.kinds import counted

    spending = current_meter()
    if not spending.in_flight or spending.seconds() < SHOWN_AFTER:
        return ""
    done, seconds = counted(spending.prompts, "prompt"), spending.seconds()
    if seconds >= BOUNDED_AFTER and spending.prompts <= (number := most() or 0):
        done = f"{spending.prompts:,} of at most {counted(number, 'prompt')}"
    usage = [one.usage for one in spending.taken()]
    tokens = sum(one.input_tokens + one.output_tokens for one in usage)
    parts = [done, *_waits(), f"{spending.in_flight} in flight"]
    return ", ".join([*parts, counted(tokens, "token"), f"{seconds:.0f} s"])


def _waits() -> list[str]:
    """The texts of the progress line about servers that requests wait for, one for each server.

    A text has the seconds, the host, and the HTTP status.
    """
    if "runtime_support.providers._server" not in sys.modules:
        return []  # importing it takes long; until then, no request was sent
    from runtime_support.providers._server import waits

    return [
        f"waiting {seconds:.0f} s for {host}" + (f" ({status})" if status else "")
        for host, seconds, status in waits()
        if seconds >= 1
    ]
