"""Every script of the reference prints what it says there; no rule and no builtin is missing.

`pytest tests/docs --update-cases` rewrites the outputs; read the difference.
"""

import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runtime_support import configure, providers
from runtime_support._core import settings as config
from runtime_support._core.messages import ToolRequest
from runtime_support.testing import Queued, Scripted
from saftc.cli.commands.run import run_module
from saftc.diagnostics.styled import plain
from saftc.formatter.formatter import format_source
from saftc.project.workspace import Workspace
from saftc.source import Source
from saftc.types.builtins import BUILTINS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("language*.md"))
BUILTINS_PAGE = ROOT / "docs" / "builtins.md"
GRAMMAR = ROOT / "saftc" / "syntax" / "grammar.lark"

_BLOCK = re.compile(r"^```(saft|python|json|text)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
# Below the heading of a construct, unseen by readers.
_SECTION = re.compile(r"^<!-- grammar: ([\w, ]+) -->$", re.MULTILINE)
_RULE = re.compile(r"^\??(\w+):|-> (\w+)$", re.MULTILINE)
_CALL = re.compile(r"(\w+) (\{.*?\})(?= \w+ \{|$)")

# Rules that only lead to others, and have no tree of their own.
_PASSED_THROUGH = {
    "statement", "simple_statement", "pattern", "pattern_item", "schema", "schema_atom",
    "expression", "or_expression", "and_expression", "not_expression", "sum", "product",
    "negation", "postfix", "atom", "options", "list_item", "entry",
}  # fmt: skip


@dataclass(slots=True)
class Example:
    """A script of the page; `places` are the blocks of its output and error in the page."""

    page: Path
    name: str
    script: str
    siblings: dict[str, str]
    replies: list[Queued] = field(default_factory=list[Queued])
    expected: dict[str, str] = field(default_factory=dict[str, str])
    places: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])


def _examples() -> list[Example]:
    return [example for path in (*PAGES, BUILTINS_PAGE) for example in _examples_of(path)]


def _examples_of(path: Path) -> list[Example]:
    page = path.read_text(encoding="utf-8")
    found: list[Example] = []
    siblings: dict[str, str] = {}
    for match in _BLOCK.finditer(page):
        kind, info, body = match.groups()
        if kind != "text" and info:
            siblings[info] = body
        elif kind == "saft":
            heading = [h for h in _HEADING.finditer(page, 0, match.start())][-1][1]
            name = f"{len(found)} {heading}"
            found.append(Example(path, name, body, dict(siblings)))
        elif info == "replies":
            found[-1].replies = [_reply(line) for line in body.splitlines()]
        else:
            found[-1].expected[info] = body
            found[-1].places[info] = match.span(3)
    return found


def _reply(line: str) -> Queued:
    if not line.startswith("call "):
        return line
    return [ToolRequest(name, arguments) for name, arguments in _CALL.findall(line[5:])]


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "_configured", {})
    monkeypatch.setattr(providers, "_made", {})
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    yield
    for name in ("weather", "shop"):
        sys.modules.pop(name, None)


def _found(example: Example, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """What a script prints and reports, without what is empty."""
    for name, text in example.siblings.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("script.saft").write_text(example.script, encoding="utf-8")
    workspace = Workspace(None)
    module = workspace.compile("script.saft")
    if module.said:
        return {"error": plain(module.said)}
    model = Scripted(example.replies)
    configure(provider=model)
    run_module(module, workspace, [])
    assert not model.replies
    written = capsys.readouterr()
    return {kind: text for kind, text in (("output", written.out), ("error", written.err)) if text}


@pytest.mark.parametrize("number", range(len(_examples())), ids=[e.name for e in _examples()])
def test_example(number: int, capsys: pytest.CaptureFixture[str], updates_cases: bool) -> None:
    example = _examples()[number]
    found = _found(example, capsys)
    if updates_cases:
        page = example.page.read_text(encoding="utf-8")
        for kind, (start, end) in reversed(example.places.items()):
            page = page[:start] + found.get(kind, "") + page[end:]
        example.page.write_text(page, encoding="utf-8")
    else:
        assert found == example.expected


@pytest.mark.one_python
@pytest.mark.parametrize("example", _examples(), ids=lambda example: example.name)
def test_examples_are_formatted(example: Example) -> None:
    if "if n == 2: print" in example.script:
        pytest.skip("shows a block on the line of its head")
    assert format_source(Source.from_text("a.saft", example.script)).text == example.script


def test_every_rule_has_a_section() -> None:
    grammar = GRAMMAR.read_text(encoding="utf-8")
    rules = {rule or alias for rule, alias in _RULE.findall(grammar)} - _PASSED_THROUGH
    sections = _SECTION.findall("".join(page.read_text(encoding="utf-8") for page in PAGES))
    assert {name for names in sections for name in names.split(", ")} == rules


def test_every_builtin_is_there() -> None:
    page = (ROOT / "docs" / "language-modules.md").read_text(encoding="utf-8")
    table = page[page.index("| Builtin |") :]
    assert set(re.findall(r"`(\w+)\(", table.partition("\n\n")[0])) == set(BUILTINS)


def test_every_builtin_has_its_example() -> None:
    page = BUILTINS_PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`(\w+)\(", " ".join(_HEADING.findall(page)))
    assert set(named) == set(BUILTINS)
