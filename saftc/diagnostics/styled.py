"""Text with styles and links, for terminals."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

Style = Literal["", "error", "warning", "hint", "title", "gutter", "note", "removed", "added"]


class Piece(NamedTuple):
    """A piece of text in one style. `link` is the kind of its link, or "" if it has no link."""

    text: str
    style: Style = ""
    link: Literal["", "code", "place"] = ""


def plain(pieces: Iterable[Piece]) -> str:
    """Returns the text of the pieces, without styles."""
    return "".join(piece.text for piece in pieces)
