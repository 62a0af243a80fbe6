"""Styled text, which a terminal shows in colours and with links."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

Style = Literal["", "error", "warning", "hint", "title", "gutter", "note", "removed", "added"]


class Piece(NamedTuple):
    """A piece of text in one style; `link` is the kind of its link, if it has one."""

    text: str
    style: Style = ""
    link: Literal["", "code", "place"] = ""


def plain(pieces: Iterable[Piece]) -> str:
    """The text without its styles."""
    return "".join(piece.text for piece in pieces)
