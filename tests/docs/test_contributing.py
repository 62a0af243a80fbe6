"""What docs/contributing.md says of the tree is true: folders, files, names, commands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| `([^`]+\.(?:py|lark))` \| ([^|]+) \|", PAGE, flags=re.MULTILINE)
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


def test_the_walk_is_the_case() -> None:
    case = ROOT / "tests" / "cases" / "for_stmt" / "unproved"
    for language, file in (("saft", "in.saft"), ("python", "out.py")):
        (block,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
        assert block == (case / file).read_text(encoding="utf-8")


def test_the_rooms_are_all() -> None:
    rooms = {path.parent.name for path in ROOT.glob("saftc/*/*.py")}
    assert {room for room in rooms if f"| `saftc/{room}` |" not in PAGE} == set()


def test_commands_of_make_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)`", PAGE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
