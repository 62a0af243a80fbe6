"""Expressions as a script writes them, in which names can be replaced by other expressions.

Written(("split(", text, ', "\\n")'))      split(text, "\\n")
.replaced({text: ...})                      split(mail.body, "\\n")
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from saftc.semantics.names import Symbol
from saftc.source import Source
from saftc.syntax import nodes as n

# Longer than this, an expression is shown in part.
WIDEST = 48


@dataclass(frozen=True, slots=True)
class Made:
    """Stands in what means nothing elsewhere, such as what a model makes; `words` say why."""

    node: n.Node
    source: Source = field(compare=False)
    words: str = field(compare=False)


Part = str | Symbol | Made


@dataclass(frozen=True)
class Written:
    """The parts of an expression: text, names, and the mark of what is made at its place."""

    parts: tuple[Part, ...]

    @cached_property
    def text(self) -> str:
        """The expression on one line."""
        return "".join(map(_text, self.parts))

    @property
    def shown(self) -> str:
        """The same, cut where it is very long."""
        return self.text if len(self.text) <= WIDEST else self.text[: WIDEST - 1] + "…"

    @property
    def symbols(self) -> list[Symbol]:
        """The names in it."""
        return [one for one in self.parts if isinstance(one, Symbol)]

    @property
    def made(self) -> list[Made]:
        """The marks in it."""
        return [one for one in self.parts if isinstance(one, Made)]

    def replaced(self, meaning: Callable[[Symbol], "Written | None"]) -> "Written":
        """The expression with others in the place of names."""
        found: list[Part] = []
        for position, part in enumerate(self.parts):
            new = meaning(part) if isinstance(part, Symbol) else None
            if new is None:
                found.append(part)
            elif self._is_alone(position) or _is_tight(new.text):
                found += new.parts
            else:
                found += ["(", *new.parts, ")"]
        return joined(found)

    def _is_alone(self, position: int) -> bool:
        """Whether brackets or commas are on both sides."""
        before = "".join(map(_text, self.parts[:position])).rstrip()
        behind = "".join(map(_text, self.parts[position + 1 :])).lstrip()
        return (not before or before[-1] in "([{,:") and (not behind or behind[0] in ")]},")


def joined(parts: list[Part]) -> Written:
    """The expression of these parts, texts beside each other as one."""
    found: list[Part] = []
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part != "":
            found.append(part)
    return Written(tuple(found))


def _text(part: Part) -> str:
    match part:
        case str():
            return part
        case Symbol():
            return part.name
        case Made():
            return ""


def _is_tight(text: str) -> bool:
    """Whether an expression binds as tightly as a name, a call or a literal does."""
    depth, quoted = 0, ""
    for before, letter in zip(" " + text, text, strict=False):
        if quoted:
            quoted = "" if letter == quoted and before != "\\" else quoted
        elif letter == '"':
            quoted = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == " " and depth == 0:
            return False
    return not text.startswith("-")
