"""How diagnostics are collected, hinted at and shown."""

import json
import unicodedata

import pytest

from saftc.diagnostics.catalogue import ALWAYS_TRUE, UNKNOWN_NAME
from saftc.diagnostics.model import LIMIT, Collector, Related
from saftc.diagnostics.near import near
from saftc.diagnostics.render import as_data, render_json, render_text, snippet
from saftc.source import Source, Span
from tests.compiler.support import compile_text

pytestmark = pytest.mark.one_python


def _source(text: str) -> Source:
    return Source.from_text("in.saft", text)


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


# Collecting


def test_report_is_in_source_order() -> None:
    found = Collector()
    for start in (5, 1, 3):
        found.add(UNKNOWN_NAME.at(Span(start, start + 1), name="x"))
    assert [diagnostic.span.start for diagnostic in found.report()] == [1, 3, 5]


def test_the_same_mistake_at_the_same_place_is_reported_once() -> None:
    found = Collector()
    found.add(UNKNOWN_NAME.at(Span(0, 1), name="x"))
    found.add(UNKNOWN_NAME.at(Span(0, 1), name="x", hint="another hint"))
    assert len(found.report()) == 1


def test_a_report_is_short_and_prefers_errors() -> None:
    found = Collector()
    for start in range(LIMIT):
        found.add(ALWAYS_TRUE.at(Span(start, start + 1)))
    found.add(UNKNOWN_NAME.at(Span(99, 100), name="x"))
    report = found.report()
    assert len(report) == LIMIT
    assert report[-1].severity == "error"


def test_many_mistakes_in_a_file_give_a_short_report() -> None:
    script = "".join(f"print(missing_{number})\n" for number in range(200))
    assert len(compile_text(script).checked.diagnostics) == LIMIT


def test_warnings_are_no_errors() -> None:
    found = Collector()
    found.add(ALWAYS_TRUE.at(Span(0, 1)))
    assert not found.has_errors


# Near names


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("pepole", ["people", "print"], "people"),
        ("PRINT", ["print"], "print"),
        ("x", ["y", "z"], None),
        ("colour", ["color", "cooler"], "color"),
        ("anything", [], None),
        ("a" * 100, ["a" * 99], None),
    ],
)
def test_near(name: str, candidates: list[str], expected: str | None) -> None:
    assert near(name, candidates) == expected


def test_near_does_not_depend_on_the_order() -> None:
    names = ["item_a", "item_b", "item_c"]
    assert near("item_x", names) == near("item_x", names[::-1]) == near("item_x", set(names))


# Text


def test_text_of_one() -> None:
    source = _source("x = $\n  who is longest in {pepole}\n$\n")
    start = source.text.index("pepole")
    diagnostic = UNKNOWN_NAME.at(
        Span(start, start + 6), name="pepole", hint="did you mean `people`?"
    )
    assert render_text([diagnostic], source) == (
        "error[SAFT0203]: unknown name `pepole`\n"
        " --> in.saft:2:22\n"
        "  |\n"
        "2 |   who is longest in {pepole}\n"
        "  |                      ^^^^^^ did you mean `people`?\n"
    )


def test_a_blank_line_stands_between_two() -> None:
    source = _source("a\nb\n")
    text = render_text(
        [UNKNOWN_NAME.at(Span(0, 1), name="a"), UNKNOWN_NAME.at(Span(2, 3), name="b")], source
    )
    assert text.count("\n\n") == 1 and not text.endswith("\n\n")


def test_nothing_found_is_no_text() -> None:
    assert render_text([], _source("")) == ""


def test_further_places() -> None:
    source = _source("a\nb\n")
    related = (Related(Span(0, 1), "first defined here"),)
    text = render_text([UNKNOWN_NAME.at(Span(2, 3), name="b", related=related)], source)
    assert text.endswith(" --> in.saft:1:1\n  |\n1 | a\n  | ^ first defined here\n")


def test_line_numbers_widen_the_margin() -> None:
    source = _source("\n" * 99 + "x")
    assert snippet(source, Span(99, 100)) == "   --> in.saft:100:1\n    |\n100 | x\n    | ^\n"


@pytest.mark.parametrize("before", ["日本語", "e\u0301", "plain", "한국 ", "\t\t"])
def test_caret_stands_under_its_place(before: str) -> None:
    source = _source(f"{before}here")
    lines = snippet(source, Span(len(before), len(before) + 4)).splitlines()
    shown, marks = lines[2], lines[3]
    assert _width(shown[: shown.index("here")]) == marks.index("^")
    assert marks.count("^") == 4


def test_wide_characters_are_marked_in_their_width() -> None:
    assert snippet(_source("日本"), Span(0, 2)).splitlines()[-1].count("^") == 4


def test_a_place_over_several_lines_is_marked_on_its_first() -> None:
    assert snippet(_source("abc\ndef\n"), Span(1, 6)).splitlines()[-1] == "  |  ^^"


def test_the_end_of_the_file_can_be_marked() -> None:
    assert snippet(_source("abc"), Span(3, 3)).splitlines()[-1] == "  |    ^"
    assert snippet(_source(""), Span(0, 0)).splitlines()[-1] == "  | ^"
    assert snippet(_source("abc\n"), Span(4, 4)).splitlines()[-1] == "  | ^"


def test_a_long_line_is_shown_in_part() -> None:
    source = _source("a" * 500 + "HERE" + "b" * 500)
    lines = snippet(source, Span(500, 504)).splitlines()
    assert len(lines[2]) < 120
    assert lines[2][lines[3].index("^") :].startswith("HERE")
    assert lines[3].count("^") == 4


def test_a_long_place_is_marked_in_part() -> None:
    lines = snippet(_source("x" * 5000), Span(10, 4000)).splitlines()
    assert all(len(line) < 120 for line in lines)


def test_characters_that_cannot_be_shown() -> None:
    text = snippet(Source.from_bytes("in.saft", b"a\0\x1b[31m\xff"), Span(0, 1))
    assert "\0" not in text and "\x1b" not in text
    text.encode("utf-8")


# JSON


def test_json() -> None:
    source = _source("a\nb = missing\n")
    related = (Related(Span(0, 1), "see here"),)
    diagnostic = UNKNOWN_NAME.at(Span(6, 13), name="missing", hint="a hint", related=related)
    text = render_json(as_data([diagnostic], source))
    assert text.endswith("\n")
    assert json.loads(text) == [
        {
            "code": "SAFT0203",
            "severity": "error",
            "message": "unknown name `missing`",
            "file": "in.saft",
            "line": 2,
            "column": 5,
            "end_line": 2,
            "end_column": 12,
            "hint": "a hint",
            "lines": [],
            "edits": [],
            "related": [
                {
                    "text": "see here",
                    "file": "in.saft",
                    "line": 1,
                    "column": 1,
                    "end_line": 1,
                    "end_column": 2,
                }
            ],
        }
    ]


def test_json_of_nothing_is_an_empty_list() -> None:
    assert json.loads(render_json([])) == []
