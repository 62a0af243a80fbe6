"""Documents that may break over lines, and how they are laid out.

A document is a text, a tuple of documents, or one of the classes below. `render` writes each
`Group` on one line when it fits, and otherwise with a line break for each `Line` of its own:

    Group(("f(", Nest((Line(""), "a,", Line(" "), "b", Broken(","))), Line(""), ")"))

gives `f(a, b)`, or where that is too long, `f(`, `    a,`, `    b,` and `)` on lines of their own.
"""

from dataclasses import dataclass
from typing import TypeAlias

INDENT = 4

Doc: TypeAlias = (
    "str | Line | Hard | Beside | Broken | Nest | Group | Spread | Rigid | tuple[Doc, ...]"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line break in a group that is broken, and `flat` in one that is not."""

    flat: str


@dataclass(frozen=True, slots=True)
class Hard:
    """A line break in any case, with so many blank lines."""

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
class Spread:
    """A part that is broken, whatever is around it."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Rigid:
    """A part that is never broken for its length, such as what stands between braces in a text."""

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
            case tuple() as parts:
                pending.extend(parts)
            case _:
                pass
    return False


# How a part is laid out: its groups as they fit, its groups flat, or all of it rigid.
_FITTING, _FLAT, _RIGID = range(3)


def render(doc: Doc, width: int, indent: int) -> str:
    """The text of `doc` where `indent` columns of at most `width` are taken.

    The first line has no indentation; a line without text has none either.
    """
    out: list[str] = []
    column = margin = indent
    is_line_start = False
    pending: list[tuple[int, int, Doc]] = [(indent, _FITTING, doc)]
    while pending:
        indent, mode, current = pending.pop()
        match current:
            case str():
                if current and is_line_start:
                    out.append(" " * margin)
                    is_line_start = False
                out.append(current)
                column += len(current)
            case tuple():
                pending.extend((indent, mode, part) for part in reversed(current))
            case Beside(text):
                out.append(f"  {text}")
            case Line(flat) if mode != _FITTING:
                pending.append((indent, mode, flat))
            case Line():
                pending.append((indent, mode, Hard()))
            case Hard(blank_lines):
                out.append("\n" * (blank_lines + 1))
                column = margin = indent
                is_line_start = True
            case Broken(text):
                if mode == _FITTING:
                    pending.append((indent, mode, text))
            case Nest(inner):
                pending.append((indent + INDENT, mode, inner))
            case Spread(inner):
                # Inside a rigid part, only what has to be broken is.
                kept = _RIGID if mode == _RIGID else _FITTING
                pending.append((indent, kept, inner))
            case Rigid(inner):
                pending.append((indent, _RIGID, inner))
            case Group(inner):
                if mode == _FITTING and _fits(inner, width - column, pending):
                    mode = _FLAT
                pending.append((indent, mode, inner))
    return "".join(out)


def _fits(doc: Doc, room: int, following: list[tuple[int, int, Doc]]) -> bool:
    """Whether `doc` on one line, with what follows up to the next line break, takes no more room.

    The groups that follow may be broken at their first line break.
    """
    inside: list[tuple[int, Doc]] = [(_FLAT, doc)]
    behind = len(following)
    while room >= 0:
        if inside:
            mode, current = inside.pop()
        elif behind:
            behind -= 1
            _, mode, current = following[behind]
        else:
            return True
        match current:
            case str():
                room -= len(current)
            case tuple():
                inside.extend((mode, part) for part in reversed(current))
            case Line(flat):
                if mode == _FITTING:
                    return True
                room -= len(flat)
            case Hard() | Beside():
                return True
            case Broken(text):
                room -= len(text) if mode == _FITTING else 0
            case Nest(inner) | Group(inner) | Spread(inner):
                inside.append((mode, inner))
            case Rigid(inner):
                inside.append((_RIGID, inner))
    return False
