"""Names that a misspelt one may stand for.

near("findBook", ["find_book", "shelf"])   ["find_book"]
"""

from __future__ import annotations

from collections.abc import Iterable


def near(name: str, known: Iterable[str]) -> list[str]:
    """At most three known names like this one, the most similar first."""
    from difflib import SequenceMatcher

    wanted = _plain(name)
    scored: list[tuple[float, str]] = []
    for candidate in known:
        likeness = SequenceMatcher(None, wanted, _plain(candidate)).ratio()
        if likeness >= 0.6:
            scored.append((likeness, candidate))
    scored.sort(key=lambda pair: -pair[0])
    return [candidate for _, candidate in scored[:3]]


def did_you_mean(names: list[str]) -> str:
    """The tail of a message that offers the names, empty without any."""
    return f", did you mean {' or '.join(names)}?" if names else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
