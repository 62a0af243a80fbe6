"""Words for the user, on standard error."""

from __future__ import annotations

import sys

from runtime_support._core.redaction import redacted
from runtime_support.errors import printable


def note(text: str) -> None:
    """Tells the user something on standard error, if there is one."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
        print(f"saftc: {printable(redacted(text))}", file=sys.stderr)


def is_at_terminal() -> bool:
    """Whether somebody sees at once what is noted."""
    # Python has no stream where it was closed.
    return sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]
