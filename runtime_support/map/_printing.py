"""Keeps the printed lines of rows apart while many rows print at the same time.

    with whole_lines():            in the process
        with line_buffered_output():     in the thread of a row
            print("a", "b")
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from runtime_support._values.context import Block, current_context

_lock = threading.RLock()


class _LineStream:
    """A stream that buffers what a row of the job prints, until the printed line is complete."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Writes the completed lines; outside of rows, writes all of the text."""
        begun = current_context().begun_lines
        if begun is None:
            return self.stream.write(text)
        with _lock:
            lines, end, rest = (begun.get(self, "") + text).rpartition("\n")
            begun[self] = rest
            if end:
                self.stream.write(lines + end)
                # Another process may write to the same file, and must not find half a line.
                self.stream.flush()
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def line_buffered_output() -> Generator[None]:
    """Makes a row that runs in the block print whole lines.

    If its last line has no end, the end is added after the block.
    """
    begun: dict[Any, str] = {}
    with Block(begun_lines=begun):
        try:
            yield
        finally:
            for stream, text in begun.items():
                if text:
                    stream.write("\n")


def wrap_streams() -> None:
    """Replaces standard output and error, so that rows print whole lines."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _LineStream):
            setattr(sys, name, _LineStream(stream))


@contextmanager
def whole_lines() -> Generator[None]:
    """Makes rows that run in the block print whole lines."""
    before = sys.stdout, sys.stderr
    wrap_streams()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
