"""Lines as black writes them, without asking black about every line.

black takes most of the time of a compilation when it formats a whole module. But what the emitter
writes on one line is already in black's form (the tests hold this against black itself), so only
statements that do not fit on their line, or hold a text of several lines, a trailing comma or a
comment, are formatted, each by itself and narrower by its indentation.

Two things are ours: a call of `prompt` that does not fit has one argument a line, and the text of a
prompt is indented like the line on which it begins. Where black would say the same of each line, as
of a list that does not fit, it is not asked either: `lay_out_listing`.
"""

import ast
import re
from collections import ChainMap
from collections.abc import Collection, Sequence
from unicodedata import category

from saftc.codegen.printing import INDENT, Breaks, Printer, block_text
from saftc.codegen.python import Listing, Written, item_count

WIDTH = 88

_CALLS = ("prompt", "program")
_MARK = re.compile(r'"""\n\x01(\d+)\x01\n"""')
_PROMPT = re.compile(rf"\b(?:{'|'.join(_CALLS)})\(")
# black gives some characters from here on two columns; which ones, black is asked when it matters.
_FIRST_WIDE = "\u1100"
_TRAILING_COMMA = re.compile(r",[\])}]")


def mark(text: str, number: int) -> Written:
    """What stands for `text`, number `number` of a statement, until that is laid out."""
    return Written(text, f'"""\n\x01{number}\x01\n"""')


def needs_layout(code: str, depth: int) -> bool:
    """Whether a statement or head has to be laid out."""
    columns = len(code) + len(INDENT) * depth
    if not code.isascii():
        columns += sum(character >= _FIRST_WIDE for character in code)
    is_long = columns > WIDTH
    return is_long or "\n" in code or _TRAILING_COMMA.search(code) is not None


def lay_out(code: str, depth: int, texts: Sequence[str]) -> str:
    """The lines of a statement that stands `depth` blocks deep, without that indentation.

    `code` is a simple statement, or the head of a block with `pass` in it.
    """
    return _with_texts(_spread_prompts(code, depth), texts)


def lay_out_listing(
    statement: ast.stmt,
    depth: int,
    texts: Sequence[str],
    breaks: dict[ast.AST, Sequence[str]],
    prompts: Collection[ast.AST],
) -> str | None:
    """The lines of a statement about one listing, with one item of that a line.

        x = prompt(             xs = [
            "... {rows} ...",       "first",
            rows=rows,              "second",
        ).value                 ]

    Prompts, lists and dicts are written so where they do not fit on a line, other listings where
    the script has them so. None where black has to say what the lines are. Most statements that do
    not fit on their line are of this kind; many a script needs no black at all, which takes as long
    to import as such a script takes to compile.
    """
    listing = _listing_of(statement)
    if listing is None:
        return None
    template = listing.args[0] if isinstance(listing, ast.Call) and listing in prompts else None
    if listing in breaks:
        is_spread = not any(breaks[listing])
    elif template is not None or isinstance(listing, ast.List | ast.Dict):
        # A single item may get a line, or the whole statement parentheses.
        is_one = item_count(listing) == 1 or _fits(Printer(breaks).simple(statement), depth)
        is_spread = isinstance(template, Written) or not is_one
    else:
        is_spread = False
    others = (node for node in ast.walk(statement) if node is not listing and node is not template)
    if not is_spread or any(_has_lines(node, breaks) for node in others):
        return None
    one_a_line = ["\n" + INDENT] * item_count(listing) + ["\n"]
    code = Printer(ChainMap({listing: one_a_line}, breaks)).simple(statement)
    lines = _MARK.sub('""', code).split("\n")
    # A template on one line cannot be made shorter.
    shortened = lines if template is None else [*lines[:1], *lines[2:]]
    if any(needs_layout(line, depth) for line in shortened):
        return None
    return _with_texts(code, texts)


def _listing_of(statement: ast.stmt) -> Listing | None:
    """What a statement is about; of a call, less an attribute of it."""
    match statement:
        case ast.Assign() | ast.AnnAssign() | ast.Return() | ast.Expr():
            value = statement.value
        case _:
            return None
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Call):
        value = value.value
    return value if isinstance(value, Listing) else None


def _has_lines(node: ast.AST, breaks: Breaks) -> bool:
    """Whether a part of a statement is written on lines of its own."""
    return node in breaks or (isinstance(node, Written) and "\n" in node.source)


def _fits(code: str, depth: int) -> bool:
    """Whether black may find that a statement fits on its line."""
    seen = code if code.isascii() else [c for c in code if category(c)[0] not in "MC"]
    return len(seen) + len(INDENT) * depth <= WIDTH


def _with_texts(code: str, texts: Sequence[str]) -> str:
    return _MARK.sub(lambda match: _text(texts[int(match[1])], match), code)


def _text(text: str, match: re.Match[str]) -> str:
    line_start = match.string.rfind("\n", 0, match.start()) + 1
    line = match.string[line_start : match.start()]
    margin = line[: len(line) - len(line.lstrip(" "))]
    lines = block_text(text).split("\n")
    inside = "\n".join(margin + line if line else "" for line in lines)
    return f'"""\n{inside}\n{margin}"""'


def _spread_prompts(code: str, depth: int) -> str:
    """black's layout of `code`, with one argument a line in each prompt that has several lines."""
    formatted = black_format(code, depth)
    if _PROMPT.search(formatted) is None:
        return formatted
    while True:
        missing = _closing_without_comma(formatted)
        if not missing:
            return formatted
        for offset in sorted(missing, reverse=True):
            formatted = formatted[:offset] + "," + formatted[offset:]
        formatted = black_format(formatted, depth)


def _closing_without_comma(code: str) -> list[int]:
    """Where prompts of several lines lack the comma that gives each argument its own line."""
    starts = [0]
    for line in code.split("\n"):
        starts.append(starts[-1] + len(line.encode()) + 1)
    encoded = code.encode()
    found: list[int] = []
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id not in _CALLS or node.lineno == node.end_lineno:
            continue
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        last = max(
            (starts[(a.end_lineno or 1) - 1] + (a.end_col_offset or 0) for a in arguments),
            default=0,
        )
        closing = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0) - 1
        if b"," not in encoded[last:closing]:
            found.append(len(encoded[:last].decode()))
    return found


def black_format(code: str, depth: int) -> str:
    """`code` as black writes it where `depth` levels of indentation are taken."""
    import black
    from black.mode import TargetVersion

    width = max(1, WIDTH - len(INDENT) * depth)
    # Named, so that black does not look for it in every statement.
    mode = black.Mode({TargetVersion.PY311}, line_length=width)
    return black.format_str(code, mode=mode)
