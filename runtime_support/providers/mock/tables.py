"""What the mock makes of the summary of a dataframe in a prompt.

    column_asked_for(Reading.of('which column has the highest average? {"kind":"dataframe",...}'))
    "goals"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from runtime_support.providers.mock.reading import Reading
from runtime_support.values import is_object

_FIGURES = {
    "mean": {"average", "averages", "mean", "means"},
    "count": {"count", "values"},
    "min": {"minimum"},
    "max": {"maximum"},
}
_HIGHEST = {"highest", "largest", "greatest", "biggest", "most", "best", "top"}
_LOWEST = {"lowest", "smallest", "least", "fewest", "worst"}


def column_asked_for(reading: Reading) -> str | None:
    """The column of which some figure is the highest or the lowest, when that is asked."""
    figure = next((name for name, words in _FIGURES.items() if reading.words & words), None)
    choose = _extreme(reading.words)
    if figure is None or choose is None or "column" not in reading.words:
        return None
    known: dict[str, Any] = {
        name: profile[figure]
        for table in _tables(reading)
        for name, profile in table["profile"].items()
        if profile[figure] is not None
    }
    return choose(known, key=known.__getitem__) if known else None


def columns_taken(name: str, options: list[Any] | None, reading: Reading) -> list[str]:
    """The columns that a parameter takes: among its options, or when it is named after them."""
    tables = _tables(reading)
    if options is not None:
        columns = {column for table in tables for column in table["columns"]}
        return [option for option in options if option in columns]
    if "column" not in name.lower():
        return []
    return [column for table in tables for column in table["profile"]]


def _extreme(words: Iterable[str]) -> Callable[..., str] | None:
    said = {*words}
    if said & _HIGHEST:
        return max
    return min if said & _LOWEST else None


def _tables(reading: Reading) -> list[dict[str, Any]]:
    return [
        one
        for one in reading.objects
        if one.get("kind") == "dataframe" and is_object(one.get("profile"))
    ]
