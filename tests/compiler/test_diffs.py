"""A small change of the script is a small change of the module."""

import difflib
import re
from pathlib import Path

import pytest

from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from tests.compiler.support import EXAMPLES, GOLDENS, compile_text, examples

pytestmark = pytest.mark.one_python

_SCRIPTS = [*sorted(GOLDENS.glob("*.saft")), *examples()]


def _changed(before: str | None, after: str | None) -> list[str]:
    assert before is not None and after is not None
    lines = difflib.ndiff(before.split("\n"), after.split("\n"))
    return [line for line in lines if line[0] in "+-"]


# A note above every statement would stand above each next one, too: every third has neighbours
# without one, and after three rounds each has had its own.
_ROUNDS = 3


@pytest.mark.parametrize("path", _SCRIPTS, ids=lambda path: path.stem)
def test_a_comment_line_more_is_a_line_more(path: Path) -> None:
    compiled = compile_text(path.read_text(encoding="utf-8"), folder=path.parent)
    source = compiled.checked.source
    lines = source.text.split("\n")
    statements = [x for x in walk(compiled.checked.module) if isinstance(x, n.Statement)]
    numbers = [
        number
        for number in sorted({source.line_of(statement.span.start) for statement in statements})
        # It would part a doc comment from what it documents.
        if not (number > 1 and lines[number - 2].lstrip().startswith("///"))
    ]
    for first in range(_ROUNDS):
        changed = list(lines)
        chosen = numbers[first::_ROUNDS]
        for number in reversed(chosen):
            line = lines[number - 1]
            indentation = line[: len(line) - len(line.lstrip())]
            changed.insert(number - 1, f"{indentation}// a note above line {number}")
        found = _changed(compiled.text, compile_text("\n".join(changed), folder=path.parent).text)
        assert [line.split() for line in found] == [
            f"+ # a note above line {number}".split() for number in chosen
        ]


def test_a_renamed_local_changes_only_the_lines_that_use_it() -> None:
    text = (EXAMPLES / "invoices.saft").read_text(encoding="utf-8")
    renamed = re.sub(r"\bdue\b", "until", text)
    before = compile_text(text, folder=EXAMPLES).text
    after = compile_text(renamed, folder=EXAMPLES).text
    assert before is not None
    assert _changed(before.replace("due", "until"), after) == []
