"""What docs/contributing.md says of the tree is true: folders, files, names, commands.

`pytest tests/docs --update-cases` rewrites the module of its example.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATH = ROOT / "docs" / "contributing.md"
PAGE = PATH.read_text(encoding="utf-8")
STEPS = re.findall(r"^\| `([^`]+\.(?:py|lark))` \| ([^|]+) \| [^|]+ \|$", PAGE, flags=re.MULTILINE)
# What is made, or stands for any of its kind.
_NOT_IN_THE_TREE = {"tests/cases/RULE/NAME"}


def test_paths_are_there() -> None:
    paths = set(re.findall(r"`((?:saftc|tests|runtime_support|benchmarks|docs)/[\w./]+)`", PAGE))
    assert len(paths) > 30
    assert [path for path in paths - _NOT_IN_THE_TREE if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(("path", "names"), STEPS, ids=[path for path, _ in STEPS])
def test_names_of_the_walk_are_defined(path: str, names: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    for name in re.findall(r"`(\w+)`", names):
        assert re.search(rf"^\s*(?:def |class )?{name}\b[(:]", text, flags=re.MULTILINE), name


def test_the_walk_is_the_case(updates_cases: bool) -> None:
    case, text = ROOT / "tests" / "cases" / "for_stmt" / "unproved", PAGE
    for language, file in (("saft", "in.saft"), ("python", "out.py")):
        fenced = f"```{language}\n{(case / file).read_text(encoding='utf-8')}```\n"
        block = re.compile(rf"^```{language}\n.*?^```\n", flags=re.MULTILINE | re.DOTALL)
        text = block.sub(lambda _match, fenced=fenced: fenced, text)
    if updates_cases:
        PATH.write_text(text, encoding="utf-8")
    else:
        assert text == PAGE


def test_the_rooms_are_all() -> None:
    rooms = {path.parent.name for path in ROOT.glob("saftc/*/*.py")}
    assert {room for room in rooms if f"`saftc/{room}`" not in PAGE} == set()


def test_commands_of_make_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)`", PAGE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_the_places_that_answer_questions_are_there() -> None:
    table = PAGE.partition("| question | where in `saftc` |")[2].partition("\n\n")[0]
    places = re.findall(r"`([\w/]+\.py)`", table)
    assert len(places) > 15
    assert [one for one in places if not (ROOT / "saftc" / one).is_file()] == []
