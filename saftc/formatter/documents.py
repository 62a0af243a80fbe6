"""Documents: texts with optional line breaks, and `render`, which lays them out.

A document is a string, a tuple of documents, or one of the classes below. `render` writes each
`Group` on one line if it fits, and otherwise with a line break for each of its `Line`s:

    Group(("f(", Nest((Line(""), "a,", Line(" "), "b", Broken(","))), Line(""), ")"))

renders as `f(a, b)`, or if that is too long, as `f(`, `    a,`, `    b,` and `)` on separate lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

INDENT = 4

Doc: TypeAlias = (
    "str | Line | Hard | Trailing | Broken | Nest | Group | Hug | Forced | Rigid | tuple[Doc, ...]"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line break if its group is broken. In a group on one line, it is the text `flat`."""

    flat: str


@dataclass(frozen=True, slots=True)
class Hard:
    """An unconditional line break, with `blank_lines` blank lines."""

    blank_lines: int = 0


@dataclass(frozen=True, slots=True)
class Trailing:
    """A comment at the end of a line. Its width is ignored."""

    text: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A text that appears only in a broken group."""

    text: str


@dataclass(frozen=True, slots=True)
class Nest:
    """A document whose line breaks are indented one level."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Group:
    """A document whose line breaks are all taken or all omitted."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Hug:
    """A document that stays on one line, except inside its last brackets, which may break.

    `last` begins with the opening bracket. If `before` and this bracket do not fit on the line,
    `broken` is rendered instead.
    """

    before: Doc
    last: Doc
    broken: Doc


@dataclass(frozen=True, slots=True)
class Forced:
    """A document with line breaks, even if the group around it is on one line."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Rigid:
    """A document that is never broken because of its length, such as a hole in a text."""

    doc: Doc


def is_spread(doc: Doc) -> bool:
    """True if `doc` always takes several lines, at any width."""
    pending: list[Doc] = [doc]
    while pending:
        match pending.pop():
            case Hard() | Trailing():
                return True
            case Nest(inner) | Group(inner) | Forced(inner) | Rigid(inner):
                pending.append(inner)
            case Hug(before, last):
                pending += (before, last)
            case tuple() as parts:
                pending.extend(parts)
            case _:
                pass
    return False


@dataclass(frozen=True, slots=True)
class _Place:
    """The context of a document.

    It has the indentation, whether line breaks are taken, and whether long lines must not be
    broken.
    """

    indent: int
    is_broken: bool
    is_rigid: bool = False


def render(doc: Doc, width: int, indent: int) -> str:
    """Returns the text of `doc`, which starts at column `indent`, in lines of at most `width`.

    The first line and empty lines have no indentation.
    """
    out: list[str] = []
    column = margin = indent
    begins_line = False
    pending: list[tuple[_Place, Doc]] = [(_Place(indent, is_broken=True), doc)]
    while pending:
        place, current = pending.pop()
        match current:
            case str():
                if current and begins_line:
                    out.append(" " * margin)
                    begins_line = False
                out.append(current)
                column += len(current)
            case tuple():
                pending.extend((place, part) for part in reversed(current))
            case Trailing(text):
                out.append(f"  {text}")
            case Line(flat):
                pending.append((place, Hard() if place.is_broken else flat))
            case Hard(blank_lines):
                out.append("\n" * (blank_lines + 1))
                column = margin = place.indent
                begins_line = True
            case Broken(text):
                pending.append((place, text if place.is_broken else ""))
            case Nest(inner):
                # A group on one line does not increase the indentation of its content.
                deeper = place.indent + (INDENT if place.is_broken else 0)
                pending.append((replace(place, indent=deeper), inner))
            case Forced(inner):
                pending.append((replace(place, is_broken=True), inner))
            case Rigid(inner):
                pending.append((replace(place, is_rigid=True), inner))
            case Group(inner):
                fits = place.is_rigid or _fits(inner, width - column, pending)
                is_broken = place.is_broken and not fits
                pending.append((replace(place, is_broken=is_broken), inner))
            case Hug(before, last, broken):
                flat = replace(place, is_broken=False)
                fits = place.is_rigid or not place.is_broken
                if fits or _fits((before, last), width - column, pending):
                    pending += ((flat, last), (flat, before))
                elif _fits(before, width - column, [(place, last)]):
                    pending += ((place, last), (flat, before))
                else:
                    pending.append((place, broken))
    return "".join(out)


def _fits(doc: Doc, room: int, following: Sequence[tuple[_Place, Doc]]) -> bool:
    """True if `doc` fits on one line, together with the text up to the next line break.

    The line has `room` columns left. Groups in `following` may break at their first line break.
    """
    inside: list[tuple[_Place, Doc]] = [(_Place(0, is_broken=False), doc)]
    behind = len(following)
    while room >= 0:
        if inside:
            place, current = inside.pop()
        elif behind:
            behind -= 1
            place, current = following[behind]
        else:
            return True
        match current:
            case str():
                room -= len(current)
            case tuple():
                inside.extend((place, part) for part in reversed(current))
            case Line(flat):
                if place.is_broken:
                    return True
                room -= len(flat)
            case Hard() | Trailing():
                return True
            case Broken(text):
                room -= len(text) if place.is_broken else 0
            case Hug(before, last, broken):
                is_flat = place.is_rigid or not place.is_broken
                inside += [(place, last), (place, before)] if is_flat else [(place, broken)]
            case Group(inner) if place.is_rigid:
                inside.append((replace(place, is_broken=False), inner))
            case Nest(inner) | Group(inner) | Forced(inner):
                inside.append((place, inner))
            case Rigid(inner):
                inside.append((replace(place, is_rigid=True), inner))
    return False
