"""Documents that may break over lines, and how they are laid out.

A document is a text, a tuple of documents, or one of the classes below. `render` writes each
`Group` on one line when it fits, and otherwise with a line break for each `Line` of its own:

    Group(("f(", Nest((Line(""), "a,", Line(" "), "b", Broken(","))), Line(""), ")"))

gives `f(a, b)`, or where that is too long, `f(`, `    a,`, `    b,` and `)` on lines of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

INDENT = 4

Doc: TypeAlias = (
    "str | Line | Hard | Beside | Broken | Nest | Group | Hug | Spread | Rigid | tuple[Doc, ...]"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line break in a group that is broken, and `flat` in one that is not."""

    flat: str


@dataclass(frozen=True, slots=True)
class Hard:
    """A line break in any case, with `count` blank lines."""

    blank_lines: int = 0


@dataclass(frozen=True, slots=True)
class Beside:
    """A comment at the end of a line; it does not count for the width."""

    text: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A text that is there only when the group around it is broken."""

    text: str


@dataclass(frozen=True, slots=True)
class Nest:
    """A part whose line breaks are indented once more."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Group:
    """A part that is broken as a whole, or not at all."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Hug:
    """A part on one line but for its `last` brackets, or `broken` where those cannot open there."""

    before: Doc
    last: Doc
    broken: Doc


@dataclass(frozen=True, slots=True)
class Spread:
    """A part with line breaks of its own, whatever is around it."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Rigid:
    """A part that is never broken for its length, such as what is between braces in a text."""

    doc: Doc


def is_spread(doc: Doc) -> bool:
    """Whether `doc` takes several lines, however wide they may be."""
    pending: list[Doc] = [doc]
    while pending:
        match pending.pop():
            case Hard() | Beside():
                return True
            case Nest(inner) | Group(inner) | Spread(inner) | Rigid(inner):
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
    """Where a part stands: its indentation, whether its lines are broken, whether they may be."""

    indent: int
    is_broken: bool
    is_rigid: bool = False


def render(doc: Doc, width: int, indent: int) -> str:
    """The text of `doc` where `indent` columns of at most `width` are taken.

    The first line has no indentation; a line without text has none either.
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
            case Beside(text):
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
                # What a group on one line holds is indented like that line.
                deeper = place.indent + (INDENT if place.is_broken else 0)
                pending.append((replace(place, indent=deeper), inner))
            case Spread(inner):
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
    """Whether `doc` on one line, with what follows up to the next line break, takes no more room.

    The groups that follow may be broken at their first line break.
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
            case Hard() | Beside():
                return True
            case Broken(text):
                room -= len(text) if place.is_broken else 0
            case Hug(before, last, broken):
                is_flat = place.is_rigid or not place.is_broken
                inside += [(place, last), (place, before)] if is_flat else [(place, broken)]
            case Group(inner) if place.is_rigid:
                inside.append((replace(place, is_broken=False), inner))
            case Nest(inner) | Group(inner) | Spread(inner):
                inside.append((place, inner))
            case Rigid(inner):
                inside.append((replace(place, is_rigid=True), inner))
    return False
