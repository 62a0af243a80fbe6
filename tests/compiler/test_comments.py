"""A comment is lost nowhere, whatever its statement becomes."""

import pytest

from saftc.diagnostics.model import Collector
from saftc.source import Source
from saftc.syntax.lexer import lex
from tests.compiler.support import GOLDENS, compile_text, without_black

pytestmark = pytest.mark.one_python

_LOOPS = """f check(x: string):
    y = $ about {x} $
    print(y)
f name(x: string) -> string:
    ret $ about {x} $
found = []
for x in ["a", "b"]:
    check(x)
for x in ["a", "b"]:
    n = name(x)
    print(n)
for x in [
    "a",
    "b",
]:
    m = $ of {x} $
    print(m)
for x in ["a", "b"]:
    found += [name(x)]
for i, x in enumerate(found):
    check(x + str(i))
for x in found: check(x)
a = name("a")
b = name("b")
print(a, b, [
    name(x)
    for x in found
])
f main():
    for x in found:
        check(x)
    if true:
        for x in found:
            check(x)
"""


def _with_comment(text: str, number: int, place: str) -> str:
    """The script with a comment beside a line, or on a line of its own above or below."""
    lines = text.split("\n")
    line = lines[number]
    indent = line[: len(line) - len(line.lstrip())]
    alone = f"{indent}// a note"
    lines[number] = {
        "beside": f"{line}  // a note",
        "above": f"{alone}\n{line}",
        "below": f"{line}\n{alone}",
    }[place]
    return "\n".join(lines)


@pytest.mark.parametrize("place", ["beside", "above", "below"])
@pytest.mark.parametrize("name", ["loops", "overlap"])
def test_each_comment_is_in_the_module_once(name: str, place: str) -> None:
    text = _LOOPS if name == "loops" else (GOLDENS / f"{name}.saft").read_text(encoding="utf-8")
    lost: list[str] = []
    for number, line in enumerate(text.split("\n")):
        changed = _with_comment(text, number, place)
        comments = lex(Source.from_text("in.saft", changed), Collector()).comments
        if not line or not any(one.text == "// a note" for one in comments):
            continue  # it would stand in a prompt
        with without_black():  # it moves comments, and loses none
            written = compile_text(changed).text
        if written is not None and written.count("# a note") != 1:
            lost.append(f"{number + 1}: {line}")
    assert lost == []
