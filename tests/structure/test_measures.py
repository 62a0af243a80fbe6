"""What is measured of a module, and that the numbers of a file only fall."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.structure import measures
from tests.structure.modules import ROOT, imported, private_of_dependencies, read_module

pytestmark = pytest.mark.one_python

TEXT = '''"""A docstring is no statement."""
from typing import TYPE_CHECKING
import lark._private
if TYPE_CHECKING:
    from runtime_support._media import File

class Public:
    def method(self):
        """Says what it does."""
        from runtime_support.errors import SaftError
        return lark.tree._hidden, load_part("journals"), "runtime_support.ops"

    def other(self): return "a".splitlines()
'''
LISTS = """
from saftc.syntax import nodes as n
_FEW = (n.Name, n.Literal, n.Index, n.Slice, n.Member)
_MANY = (*_FEW, *(n.Name, n.Literal, n.Index), n.Slice | n.Member | n.Call)
"""
NUMBERS = """# Above.
[rooms]
# Two of them.
"a.b" = 20
"c" = 7
"gone" = 1

[others]
"c" = 9
"""


def test_a_module_is_measured() -> None:
    module = read_module(ROOT / "runtime_support" / "made_up.py", TEXT)
    assert module.statements == 10
    assert module.functions == {"Public.method": 3, "Public.other": 1}
    assert module.public == {"Public": False, "Public.method": True, "Public.other": False}
    assert module.splits_lines == 1
    assert private_of_dependencies(module) == {"lark._private", "lark.tree._hidden"}


def test_long_lists_of_kinds_count() -> None:
    assert read_module(ROOT / "saftc" / "made_up.py", LISTS).lists_of_kinds == 1


@pytest.mark.heavy  # all modules are read
def test_imports_count_wherever_they_are() -> None:
    module = read_module(ROOT / "runtime_support" / "made_up.py", TEXT)
    names = ("_media", "errors", "ops", "_journal.hook")
    assert imported(module) == {f"runtime_support.{name}" for name in names}


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"a.b": 21, "c": 7, "gone": 1}, "more than is allowed: {'a.b': '21, and at most 20'}"),
        ({"a.b": 20, "c": 7, "gone": 1, "new": 1}, "more than is allowed: {'new': "),
        ({"a.b": 20, "c": 6, "gone": 1}, "lower these, which --update-budget does: {'c': 6}"),
        ({"a.b": 20, "c": 7}, "does: {'gone': None}"),
    ],
)
def test_numbers_stay(numbers: dict[str, int], said: str, tmp_path: Path) -> None:
    file = tmp_path / "budget.toml"
    file.write_text(NUMBERS)
    with pytest.raises(AssertionError, match=re.escape(said)):
        measures.hold("rooms", numbers, file, updates=False)


def test_numbers_are_lowered_and_never_raised(tmp_path: Path) -> None:
    file = tmp_path / "budget.toml"
    file.write_text(NUMBERS)
    with pytest.raises(AssertionError, match="'c': '8, and at most 7'"):
        measures.hold("rooms", {"a.b": 9, "c": 8}, file, updates=True)
    assert file.read_text() == NUMBERS.replace("20", "9").replace('"gone" = 1\n', "")
