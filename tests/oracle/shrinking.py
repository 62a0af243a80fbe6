"""Making a script that shows a disagreement small enough to be read.

Lines are left out, many at a time at first, as long as the disagreement stays the same one.
"""

from collections.abc import Callable

from tests.oracle.compare import Disagreement, compare
from tests.oracle.model import Script

MOST_TRIES = 300
_KIND_LENGTH = 30


def shrunk(text: str, replies: Script) -> str:
    """A shorter script with the same disagreement; `text` itself when there is none."""
    wanted = _disagreement(text, replies)
    tries = 0

    def shows(lines: list[str]) -> bool:
        nonlocal tries
        tries += 1
        return tries <= MOST_TRIES and _disagreement("\n".join(lines) + "\n", replies) == wanted

    lines = text.splitlines()
    size = len(lines) // 2
    while wanted is not None and size:
        shorter = _without_runs(lines, size, shows)
        size = size if len(shorter) < len(lines) else size // 2
        lines = shorter
    return "\n".join(lines) + "\n"


def _without_runs(lines: list[str], size: int, shows: Callable[[list[str]], bool]) -> list[str]:
    start = 0
    while start < len(lines):
        shorter = lines[:start] + lines[start + size :]
        if shows(shorter):
            lines = shorter
        else:
            start += size
    return lines


def _disagreement(text: str, replies: Script) -> str | None:
    try:
        compare(text, replies)
    except Disagreement as difference:
        return str(difference)[:_KIND_LENGTH]
    except Exception as error:
        return type(error).__name__
    return None
