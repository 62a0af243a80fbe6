"""Inserts a name at the cursor, so that an unfinished script can be parsed and typed.

An unfinished line is often a syntax error. Usually it can be parsed with a name at the cursor, with
open brackets closed and a suitable end. In these examples, `|` is the cursor:

    for row in rows: print(row.|           for row in rows: print(row.x__)
    f label(text: |                        f label(text: x__): nil

If no such line can be parsed, the name replaces the line.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from saftc.check.names import Scope
from saftc.diagnostics.model import Collector
from saftc.lsp.definitions import path_to_offset
from saftc.lsp.session import Script
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.lexer import lex_beginning
from saftc.syntax.parser import parse
from saftc.syntax.tokens import LAYOUT

NAME = "x__"

_CLOSERS = {"(": ")", "[": "]", "{": "}", "$": "$", "hole": "}", "format hole": "}"}
# The completions of a line that are tried: the texts before the name, after the name, and after
# the closing brackets.
_ENDS = (
    *(("", "", ""), ("", "", ": nil"), ("", "", " = nil"), ("", "", " in []: nil")),
    *(("", "", " = $ $"), ("", ": nil", ""), ("", " else nil", ""), ("+ ", "", "")),
)
# How many characters after the cursor are searched for the end of the statement.
_FURTHEST = 5_000


@dataclass(frozen=True, slots=True)
class CurrentLine:
    """The statement at the cursor, up to the word that contains the cursor.

    `line` is the offset of the statement's first line; `start` and `end` are the offsets of the
    word. `open` has the brackets that are open at the cursor, innermost last, and `kinds` the kinds
    of the tokens before the word. `is_text` is true if the cursor is in a text, a comment, or the
    words of a prompt.
    """

    line: int
    start: int
    end: int
    open: list[str]
    kinds: list[str]
    is_text: bool


@dataclass(frozen=True, slots=True)
class PlaceholderScript:
    """The script with the inserted name, and the nodes around the name, outermost first."""

    script: Script
    way: list[n.Node]

    @property
    def scope(self) -> Scope:
        """The innermost scope around the name."""
        scopes, offset = self.script.checked.facts.names.scopes, self.way[-1].span.start
        found = scopes[self.script.module]
        for node in self.way:
            match node:
                case n.TryStmt(handler=handler) if offset < handler[0].span.start:
                    pass  # the scope of a TryStmt is that of its handler, and the name is before it
                case n.FunctionDef() | n.RecordDef() | n.Comprehension() | n.TryStmt():
                    found = scopes.get(node, found)
                case _:
                    pass
        return found


def current_line_at(script: Script, offset: int) -> CurrentLine:
    """The `CurrentLine` for a cursor at an offset."""
    text, start, end = script.source.text, offset, offset
    while start and _is_of_word(text[start - 1]):
        start -= 1
    while end < len(text) and _is_of_word(text[end]):
        end += 1
    begun = (one.span.start for one in script.module.statements if one.span.start <= start)
    first = text.rfind("\n", 0, max(begun, default=0)) + 1
    tokens, opened, is_text = lex_beginning(text[first:start])
    if is_text and opened[-1:] != ["$"]:
        # The cursor is in a text: the name replaces the text and the rest of the line.
        is_formatted = opened[-1:] != [] and opened[-1].startswith("f")
        kind = "FORMAT_START" if is_formatted else "STRING"
        text_of = next((one for one in reversed(tokens) if one.kind == kind), None)
        if text_of is not None:
            start = first + text_of.span.start
        opened, end = opened[: len(opened) - is_formatted], -1
    layout = (place for place, one in enumerate(tokens) if one.kind in LAYOUT)
    tokens = tokens[max(layout, default=-1) + 1 :]
    begin = first + tokens[0].span.start if tokens else start
    line = text.rfind("\n", 0, begin) + 1
    return CurrentLine(line, start, end, opened, [one.kind for one in tokens], is_text)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def with_placeholder(script: Script, beginning: CurrentLine) -> PlaceholderScript:
    """Inserts the name at the cursor, or else in place of the line, and checks the script."""
    text, name = script.source.text, script.source.name
    made, before, end = next(_readable(text, beginning), None) or _alone(text, beginning)
    checked = script.modules.check_text(
        Source.from_text(name, f"{text[: beginning.line]}{made}{text[end:]}")
    )
    found = Script(script.path, checked, script.modules)
    return PlaceholderScript(
        found, path_to_offset(checked.module, beginning.line + before + len(NAME))
    )


def _alone(text: str, beginning: CurrentLine) -> tuple[str, int, int]:
    """A line with nothing but the name.

    The result has the form of the items that `_readable` yields.
    """
    line = text[beginning.line : beginning.start]
    indent = line[: len(line) - len(line.lstrip())].partition("\n")[0]
    return indent + NAME, len(indent), _end_of_line(text, beginning.start)


def _readable(text: str, beginning: CurrentLine) -> Iterator[tuple[str, int, int]]:
    """Yields versions of the line that have the name and can be parsed.

    Versions that keep the text after the cursor come first. Each item has the line, the offset of
    the name in the line, and the end, in `text`, of the part that the line replaces.
    """
    head = text[beginning.line : beginning.start]
    indent = head[: len(head) - len(head.lstrip())]
    closers = "".join(_CLOSERS.get(one, one[1:]) for one in reversed(beginning.open))
    variants = [("", closers, _end_of_line(text, beginning.start))]
    if beginning.end >= 0:
        rest = text[beginning.end : beginning.end + _FURTHEST]
        layout = (one for one in lex_beginning(f"{head}{NAME}{rest}")[0] if one.kind in LAYOUT)
        length = next((one.span.start for one in layout if one.span.start >= len(head)), None)
        tail = rest if length is None else rest[: length - len(head) - len(NAME)]
        variants.insert(0, (tail, "", beginning.end + len(tail)))
    for tail, closing, end in variants:
        for put, value, last in _ENDS:
            for block in _blocks(text[end:], indent):
                # A function's head above a block needs only the colon.
                last = ":" if block and last == ": nil" else last
                made = f"{head}{put}{NAME}{value}{tail}{closing}{last}"
                if _can_be_read(made[len(indent) :] + block):
                    yield made, len(head) + len(put), end


def _end_of_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def _blocks(below: str, indent: str) -> tuple[str, ...]:
    """The texts to try after a line.

    If a block follows the line, a short block is tried first. Otherwise, there is only the empty
    text.
    """
    line = below.lstrip("\n").partition("\n")[0]
    is_deeper = line.startswith(f"{indent} ") and line.strip()
    return ("\n    nil", "") if is_deeper else ("",)


def _can_be_read(line: str) -> bool:
    mistakes = Collector(1)
    line = line.removeprefix("el") if line.startswith("elif") else line
    parse(Source.from_text("", line), mistakes)
    return not mistakes.has_errors
