"""What was measured, as a table and as JSON.

    Figure("start", "a script", "ms", 14.2, {"python": 12.9}, "python", at_most=1.5)

A target bounds the ratio of ours to a peer's, where one is named, and else ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured; `against` names the peer that the ratio is to."""

    group: str
    name: str
    unit: str
    ours: float
    peers: Mapping[str, float] = field(default_factory=dict)
    against: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours divided by the peer's; None without one."""
        theirs = self.peers.get(self.against)
        return None if theirs is None else self.ours / theirs

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None when there is none, or the peer was left out."""
        judged = self.ratio if self.against else self.ours
        if judged is None or (self.at_most is None and self.at_least is None):
            return None
        is_low_enough = self.at_most is None or judged <= self.at_most
        return is_low_enough and (self.at_least is None or judged >= self.at_least)

    def data(self) -> dict[str, Any]:
        """The figure as JSON data."""
        return {
            "group": self.group,
            "name": self.name,
            "unit": self.unit,
            "ours": _rounded(self.ours),
            "peers": {name: _rounded(value) for name, value in self.peers.items()},
            "against": self.against or None,
            "ratio": None if self.ratio is None else _rounded(self.ratio),
            "at_most": self.at_most,
            "at_least": self.at_least,
            "met": self.is_met,
        }


HEAD = ("", "unit", "ours", "peers", "ratio", "target", "met")


def table(figures: Iterable[Figure]) -> str:
    """The figures by group, one a line."""
    rows: list[Sequence[str]] = [HEAD]
    group = None
    for figure in figures:
        if figure.group != group:
            group = figure.group
            rows += [[""], [group]]
        rows.append(_row(figure))
    widths = [max(len(row[at]) for row in rows if at < len(row)) for at in range(len(HEAD))]
    lines = ("  ".join(map(_cell, range(len(row)), row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _row(figure: Figure) -> list[str]:
    peers = ", ".join(f"{name} {_text(value)}" for name, value in figure.peers.items())
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    met = {True: "yes", False: "NO", None: ""}[figure.is_met]
    name, unit, ours = f"  {figure.name}", figure.unit, _text(figure.ours)
    return [name, unit, ours, peers, ratio, _target(figure), met]


def _target(figure: Figure) -> str:
    of = f" x {figure.against}" if figure.against else ""
    if figure.at_most is not None:
        return f"<= {figure.at_most:g}{of}"
    if figure.at_least is not None:
        return f">= {figure.at_least:g}{of}"
    return ""


def _cell(column: int, text: str, width: int) -> str:
    is_number = column in (2, 4)
    return text.rjust(width) if is_number else text.ljust(width)


def _text(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
