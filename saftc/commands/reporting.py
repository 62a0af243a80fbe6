"""Words to the user: diagnostics with colour on a terminal, and lines on standard error."""

import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from saftc.driver import Checked

_COLOURS = {"error[": "\x1b[1;31m", "warning[": "\x1b[1;33m"}
_PLAIN = "\x1b[0m"


def write_diagnostics(checked: "Checked", stream: TextIO) -> None:
    """Writes what was found in a script to `stream`."""
    from saftc.diagnostics.render import render_text

    write_rendered(render_text(checked.diagnostics, checked.source), stream)


def write_rendered(text: str, stream: TextIO) -> None:
    """Writes rendered diagnostics to `stream`, in colour on a terminal."""
    if text:
        print(_coloured(text) if _has_colour(stream) else text, file=stream, end="")


def say(text: str) -> None:
    """A line of what was done, on standard error."""
    print(text, file=sys.stderr)


def complain(text: str) -> None:
    """A line of what is wrong with a file or the command, on standard error."""
    print(f"saftc: {text}", file=sys.stderr)


def _has_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR")


def _coloured(text: str) -> str:
    lines = text.split("\n")
    for position, line in enumerate(lines):
        for word, colour in _COLOURS.items():
            if line.startswith(word):
                head, colon, rest = line.partition(":")
                lines[position] = f"{colour}{head}{_PLAIN}{colon}{rest}"
    return "\n".join(lines)
