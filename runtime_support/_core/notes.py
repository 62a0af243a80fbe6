"""Messages to the user on standard error."""

from __future__ import annotations

import sys

from runtime_support._core.redaction import redacted
from runtime_support.errors import printable


def note(text: str) -> None:
    """Prints a message without secrets on standard error, if that stream is open."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
        print(f"saftc: {printable(redacted(text))}", file=sys.stderr)


# What `note_once` has printed messages about.
_noted: set[str] = set()


def note_once(about: str, text: str) -> None:
    """Prints a message as `note` does, unless it has printed another message about the same."""
    if about not in _noted:
        _noted.add(about)
        note(text)


def is_at_terminal() -> bool:
    """Whether standard error is a terminal."""
    # A closed stream is None.
    return sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]
