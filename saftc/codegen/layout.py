"""The tree of a module as text: libcst writes it, black lays it out.

Two things are ours: a call of `prompt` that does not fit has one argument a line (`prompts` gives
it the comma by which black does that), and the text of a prompt is indented like the line on which
it begins. black would leave the inside of a string alone, so until it has run, a mark stands there.
"""

import re
from collections.abc import Sequence

import libcst as cst

WIDTH = 88

_MARK = re.compile(r'"""\x01(\d+)\x01"""')
_NOTHING = cst.Module([])


def mark(number: int) -> cst.SimpleString:
    """What stands for the text `number` of a module until that is laid out."""
    return cst.SimpleString(f'"""\x01{number}\x01"""')


def code_of(node: cst.CSTNode) -> str:
    """The source of a node."""
    return _NOTHING.code_for_node(node)


def lay_out(module: cst.Module, texts: Sequence[str] = ()) -> str:
    """The text of a module, with `texts` where their marks stand."""
    import black
    from black.mode import TargetVersion

    mode = black.Mode({TargetVersion.PY311}, line_length=WIDTH)
    code = black.format_str(module.code, mode=mode)
    return _MARK.sub(lambda match: _text(texts[int(match[1])], match), code)


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
