"""Writes the tree of a module as text: libcst generates the code, black formats it.

Two rules are not black's. A call of `prompt` that does not fit on a line has one argument per line
(`prompts` adds the trailing comma that makes black do that). The text of a prompt is indented like
the line on which it begins; black does not indent inside strings, so a placeholder (a mark)
replaces the text until black has run.

black formats one statement at a time, and a cache keeps its results, so that compiling again after
an edit is fast. The blank lines between two statements depend only on the kinds of their lines. So
black formats outlines to find the blank lines. An outline is a short statement with lines of the
same kinds. There are few different outlines, so the cache has most of them.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from threading import Lock

import libcst as cst

from saftc.codegen.python import Statement

WIDTH = 88

_MARK = re.compile(r'"""\n\x01(\d+)\x01\n"""')
_NOTHING = cst.Module([])
_MOST_REMEMBERED = 10_000
_loading_black = Lock()


def mark(number: int) -> cst.SimpleString:
    """Returns the placeholder for a prompt's text; `number` is the index of the text in the module.

    The placeholder has several lines, since black has special rules for the parentheses around
    strings with several lines.
    """
    return cst.SimpleString(f'"""\n\x01{number}\x01\n"""')


def code_of(node: cst.CSTNode) -> str:
    """Returns the source code of a node."""
    return _NOTHING.code_for_node(node)


def lay_out(module: cst.Module, texts: Sequence[str] = ()) -> str:
    """Returns the text of a module, with `texts` in place of their placeholders."""
    return _MARK.sub(lambda match: _text(texts[int(match[1])], match), formatted(module))


@lru_cache(_MOST_REMEMBERED)
def _black(code: str) -> str:
    # Loading the extension module in two threads at once would fail.
    with _loading_black:
        import black
        from black.mode import TargetVersion

    return black.format_str(code, mode=black.Mode({TargetVersion.PY311}, line_length=WIDTH))


# Statement by statement


def formatted(module: cst.Module) -> str:
    """Formats the module with black, statement by statement."""
    before, above, text = "", _lines(module.header), ""
    for statement in module.body:
        assert isinstance(statement, Statement)
        above += _lines(statement.leading_lines)
        outline = _outline(statement)
        between = _between(before, above, outline)
        if between is None:
            return _black(module.code)
        text += between + _black(code_of(statement.with_changes(leading_lines=())))
        # Only the first statement can be directly below the header; others have a statement above.
        before, above = ("x\n" if before else above) + outline, ""
    between = _between(before, above + _lines(module.footer), "")
    return _black(module.code) if between is None else text + between


def _between(before: str, lines: str, after: str) -> str | None:
    """Returns the blank lines and comments that black writes between two outlines.

    Returns None if black formats the outlines differently when they are together.
    """
    whole, first, last = _black(before + lines + after), _black(before), _black(after)
    if not (whole.startswith(first) and whole.endswith(last)):
        return None
    return whole[len(first) : len(whole) - len(last)]


def _lines(lines: Iterable[cst.EmptyLine], margin: str = "") -> str:
    comments = (line.comment for line in lines)
    return "".join(f"{margin}{comment.value}\n" if comment else "\n" for comment in comments)


_SIMPLE: dict[type[cst.CSTNode], str] = {
    cst.Break: "break",
    cst.Continue: "continue",
    cst.Import: "import x",
    cst.ImportFrom: "import x",
    cst.Raise: "raise x",
    cst.Return: "return",
}
_TEXT = '"""x"""'
_HEADS: dict[type[cst.CSTNode], str] = {
    cst.ClassDef: "class x:",
    cst.Else: "else:",
    cst.ExceptHandler: "except x:",
    cst.For: "for x in x:",
    cst.FunctionDef: "def x():",
    cst.If: "if x:",
    cst.Try: "try:",
    cst.While: "while x:",
    cst.With: "with x:",
}


def _outline(statement: Statement | cst.Else | cst.ExceptHandler, margin: str = "") -> str:
    """Returns the outline of a statement, which is a short statement of the same kind.

    The last line of the outline has the same kind and depth as the last line of the statement.
    """
    if isinstance(statement, cst.SimpleStatementLine):
        small = statement.body[0]
        is_text = isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)
        word = _TEXT if is_text else _SIMPLE.get(type(small), "x")
        return f"{margin}{word}\n"
    decorators = getattr(statement, "decorators", ())
    text = f"{margin}@x\n" * len(decorators) + f"{margin}{_HEADS[type(statement)]}\n"
    last, inside = statement.body.body[-1], margin + "    "
    assert isinstance(last, Statement) and isinstance(statement.body, cst.IndentedBlock)
    text += _outline(last, inside) + _lines(statement.body.footer, inside)
    if isinstance(statement, cst.Try):
        text += "".join(_outline(handler, margin) for handler in statement.handlers)
    orelse = getattr(statement, "orelse", None)
    if isinstance(orelse, cst.If):
        return text + margin + "el" + _outline(orelse, margin).removeprefix(margin)
    return text + (_outline(orelse, margin) if isinstance(orelse, cst.Else) else "")


# Texts of prompts


def _text(text: str, match: re.Match[str]) -> str:
    line_start = match.string.rfind("\n", 0, match.start()) + 1
    line = match.string[line_start : match.start()]
    margin = line[: len(line) - len(line.lstrip(" "))]
    lines = "".join(map(_escaped, text)).replace('"""', '\\"\\"\\"').split("\n")
    inside = "\n".join(margin + line if line else "" for line in lines)
    return f'"""\n{inside}\n{margin}"""'


def _escaped(character: str) -> str:
    is_plain = character == "\n" or (character.isprintable() and character != "\\")
    return character if is_plain else repr(character)[1:-1]
