"""Documents that may break over lines, and their layout.

A document is a text, a tuple of documents, or one of the classes below. `render` writes each
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
    """A line break in a broken group; the text `flat` in an unbroken one."""

    flat: str


@dataclass(frozen=True, slots=True)
class Hard:
    """An unconditional line break, with `blank_lines` blank lines."""

    blank_lines: int = 0


@dataclass(frozen=True, slots=True)
class Trailing:
    """A comment at the end of a line; it does not count for the width."""

    text: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A text that appears only in a broken group."""

    text: str


@dataclass(frozen=True, slots=True)
class Nest:
    """A part whose line breaks are indented one level."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Group:
    """A part that is broken as a whole or not at all."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Hug:
    """A part on one line except for its `last` brackets; `broken` if those cannot open there."""

    before: Doc
    last: Doc
    broken: Doc


@dataclass(frozen=True, slots=True)
class Forced:
    """A part with line breaks whatever is around it."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Rigid:
    """A part that is never broken for its length, such as a hole in a text."""

    doc: Doc


def is_spread(doc: Doc) -> bool:
    """Whether `doc` takes several lines, however wide they may be."""
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
    """The context of a part: its indentation, whether its lines are broken, whether they may be."""

    indent: int
    is_broken: bool
    is_rigid: bool = False


def render(doc: Doc, width: int, indent: int) -> str:
    """The text of `doc`, starting at column `indent` of at most `width`.

    The first line has no indentation; neither do empty lines.
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
                # The content of a group on one line is indented like that line.
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
    """Whether `doc` on one line, with the text up to the next line break, fits in `room`.

    Later groups may be broken at their first line break.
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
