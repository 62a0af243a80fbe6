"""What docs/tables.md says of the summary and of the output is so."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from runtime_support import _tables as limits
from saftc.driver import compile_source
from saftc.formatter.formatter import format_source
from saftc.source import Source

PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def after(language: str) -> list[tuple[str, tuple[str, str]]]:
    """The blocks in a language, each with the one after it."""
    following = [*BLOCKS[1:], ("", "")]
    return [
        (text, below)
        for (own, text), below in zip(BLOCKS, following, strict=True)
        if own == language
    ]


@pytest.mark.parametrize(("text", "below"), after("saft"))
def test_scripts_compile_to_what_stands_below(text: str, below: tuple[str, str]) -> None:
    header = re.match(r"# Compiled by saftc from (\S+);", below[1])
    source = Source.from_text(header[1] if header else "page.saft", text)
    assert format_source(source).text == text
    compiled = compile_source(source)
    assert compiled.checked.diagnostics == ()
    assert compiled.text is not None
    if header:
        assert compiled.text == below[1]


@pytest.mark.parametrize(("text", "below"), after("python"))
def test_python_prints_what_stands_below(text: str, below: tuple[str, str]) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(text, {"__name__": "page"})
    assert printed.getvalue() == (below[1] if below[0] == "text" else "")


def test_the_module_shown_takes_and_gives_dataframes() -> None:
    (module,) = (text for _, text in BLOCKS if text.startswith("# Compiled by saftc from"))
    names: dict[str, Any] = {"__name__": "best"}
    exec(module, names)
    players = pl.DataFrame({"name": list("abcd"), "goals": [1, 2, 3, 4], "age": [20] * 4})
    found = names["best"](players, "goals")
    assert isinstance(found, pl.DataFrame)
    assert found.rows() == [("a", 1), ("b", 2), ("c", 3)]


def test_the_limits_are_told() -> None:
    for words in (
        f"the first {limits.MOST_COLUMNS} columns",
        f"more than {limits.MOST_NAME_CHARACTERS} characters",
        f"the first {limits.MOST_ROWS} rows",
        f"of the first {limits.MOST_PROFILES} of these columns",
        f"cut at {limits.MOST_TEXT} characters",
        f"rounded to {limits.DIGITS_OF_MEAN} digits",
    ):
        assert words in PAGE, words


def test_every_field_is_told() -> None:
    fields = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert fields == list(limits.summary(pl.DataFrame()))
