"""How diagnostics are collected, hinted at and shown."""

import json
import unicodedata

import pytest

from saftc.diagnostics.catalogue import ALWAYS_TRUE, UNKNOWN_NAME
from saftc.diagnostics.model import LIMIT, Collector, Edit, Hint, Related
from saftc.diagnostics.near import near
from saftc.diagnostics.render import as_data, draw_place, render_json, render_text
from saftc.diagnostics.styled import plain
from saftc.source import Source, Span
from tests.compiler.support import compile_text

pytestmark = pytest.mark.one_python


def _source(text: str) -> Source:
    return Source.from_text("in.saft", text)


def snippet(source: Source, span: Span, note: str = "", width: int | None = None) -> str:
    return plain(draw_place(source, span, note, width))


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


def test_a_comment_above_what_cannot_be_read_is_no_second_mistake() -> None:
    script = 'type T(\n    /// first\n    a: string,\n    /// second\n    b: "open | string,\n)\n'
    assert [one.code for one in compile_text(script).checked.diagnostics] == ["SAFT0105"]


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
    assert text.endswith("  |\n1 | a\n  | - first defined here\n2 | b\n  | ^\n")


def test_lines_between_two_places_are_left_out() -> None:
    source = _source("a\nb\nc\n")
    assert _rows(source, Span(4, 5), Span(0, 1)) == [
        "1 | a",
        "  | - here",
        "2 | b",
        "3 | c",
        "  | ^",
    ]
    source = _source("a\nb\nb\nc\n")
    assert _rows(source, Span(6, 7), Span(0, 1)) == [
        "1 | a",
        "  | - here",
        "...",
        "4 | c",
        "  | ^",
    ]


def test_two_places_in_a_line() -> None:
    assert _rows(_source("f(a, a)\n"), Span(5, 6), Span(2, 3)) == [
        "1 | f(a, a)",
        "  |      ^",
        "  |   - here",
    ]


def test_two_places_in_a_line_that_is_long() -> None:
    source = _source(f"a{'-' * 200}b\n")
    rows = _rows(source, Span(201, 202), Span(0, 1))
    assert [row[:4] for row in rows] == ["1 | ", "  | ", "1 | ", "  | "]
    assert [row[row.index(sign)] for row, sign in zip(rows[1::2], "^-", strict=True)] == ["^", "-"]
    assert rows[0][rows[1].index("^")] == "b" and rows[2][rows[3].index("-")] == "a"


def test_places_in_another_script() -> None:
    source, other = _source("b\n"), Source.from_text("other.saft", "\n" * 9 + "a\na\n")
    related = tuple(Related(Span(at, at + 1), "here", other) for at in (9, 11))
    text = render_text([UNKNOWN_NAME.at(Span(0, 1), name="b", related=related)], source)
    assert text.splitlines()[1:] == [
        "  --> in.saft:1:1",
        "   |",
        " 1 | b",
        "   | ^",
        "  --> other.saft:10:1",
        "   |",
        "10 | a",
        "   | ^ here",
        "11 | a",
        "   | - here",
    ]


def _rows(source: Source, span: Span, *others: Span) -> list[str]:
    related = tuple(Related(other, "here") for other in others)
    text = render_text([UNKNOWN_NAME.at(span, name="a", related=related)], source)
    return text.splitlines()[3:]


# Fixes


def test_a_fix_is_drawn() -> None:
    assert _fixed("x = 1\nprint(y, y)\n", (12, 13, "x")) == ["- print(y, y)", "2 + print(x, y)"]


def test_edits_of_one_line_are_drawn_as_one() -> None:
    assert _fixed("print(y, y)\n", (6, 7, "x"), (9, 10, "x")) == [
        "- print(y, y)",
        "1 + print(x, x)",
    ]


def test_edits_of_lines_apart() -> None:
    assert _fixed("a\nb\nc\nd\n", (0, 1, "A\nA"), (4, 5, "C"), (6, 7, "")) == [
        "- a",
        "1 + A",
        "2 + A",
        "...",
        "- c",
        "4 + C",
        "- d",
    ]


@pytest.mark.parametrize(
    ("text", "edit", "rows"),
    [
        pytest.param("a\nb\nc\n", (2, 3, ""), ["- b"], id="a line that goes"),
        pytest.param("a\n", (2, 2, "b\n"), ["2 + b"], id="a line below the last"),
        pytest.param("a", (1, 1, ")"), ["- a", "1 + a)"], id="no line end"),
        pytest.param("", (0, 0, "a\n"), ["1 + a"], id="no text"),
        pytest.param("a\n  b\n", (1, 4, " "), ["- a", "-   b", "1 + a b"], id="lines that join"),
        pytest.param("\ta\n", (0, 1, "    "), ["- →   a", "1 +     a"], id="a tab"),
    ],
)
def test_what_a_fix_changes(text: str, edit: tuple[int, int, str], rows: list[str]) -> None:
    assert _fixed(text, edit) == rows


def test_a_fix_of_many_lines_is_drawn_in_part() -> None:
    rows = _fixed("x = 1\n" * 200, (0, 1199, "y = 2\n" * 199 + "y = 2"))
    assert rows[:4] == ["- x = 1", "- x = 1", "...", "- x = 1"]
    assert rows[4:] == ["1 + y = 2", "2 + y = 2", "...", "200 + y = 2"]


def test_a_fix_of_a_long_line_is_drawn_where_it_changes_it() -> None:
    before, after = _fixed(f"{'x' * 500} pepole {'x' * 500}\n", (501, 507, "people"))
    assert " pepole " in before and " people " in after
    assert len(before) < 120 and len(after) < 120


def _fixed(text: str, *edits: tuple[int, int, str]) -> list[str]:
    advice = Hint("", edits=tuple(Edit(Span(start, end), put) for start, end, put in edits))
    shown = render_text([UNKNOWN_NAME.at(Span(0, 1), name="a", hint=advice)], _source(text))
    return [row.strip() for row in shown.splitlines()[6:]]


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


def test_a_bar_is_beside_a_place_of_several_lines() -> None:
    source = _source("if a:\n    b\n    c\nx = [\n    日,\n]\n")
    assert snippet(source, Span(0, 17), "a note").splitlines()[2:] == [
        "1 | / if a:",
        "2 | |     b",
        "3 | |     c",
        "  | |_____^ a note",
    ]
    assert snippet(source, Span(22, 32)).splitlines()[2:] == [
        "4 |   x = [",
        "  |  _____^",
        "5 | |     日,",
        "6 | | ]",
        "  | |_^",
    ]


def test_the_ends_of_a_place_of_many_lines() -> None:
    source = _source("[\n" + "    1,\n" * 20 + "]\n")
    assert snippet(source, Span(0, len(source.text))).splitlines()[2:] == [
        " 1 | / [",
        " 2 | |     1,",
        "...",
        "22 | | ]",
        "   | |_^",
    ]


def test_a_place_with_long_lines_is_marked_on_its_first() -> None:
    source = _source(f"[\n{'x' * 200}\n]\n")
    assert snippet(source, Span(0, 203)).splitlines()[2:] == ["1 | [", "  | ^"]


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


# With a line as long as twice the widest terminal here, wide characters, and a mark anywhere in it.
_LONG = "print(" + "a" * 150 + '"日本語日本語" ' + "b" * 180 + ")"
_NOTES = ("", "did you mean `abc`?", "a note of many words that is longer than such a terminal is")


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("place", [(0, 5), (150, 170), (300, 343), (2, 330)])
@pytest.mark.parametrize("note", _NOTES)
def test_no_row_is_wider_than_the_terminal(width: int, place: tuple[int, int], note: str) -> None:
    lines = snippet(_source(f"{_LONG}\n"), Span(*place), note, width).splitlines()
    assert max(map(_columns, lines[1:])) <= width
    shown, marks = lines[2:4]
    # The mark is below the line, and below what it is about.
    column = marks.index("^")
    before = next(at for at in range(len(shown)) if _columns(shown[:at]) == column)
    assert shown[before:].startswith(_LONG[place[0] : place[0] + 3])
    # The room is used.
    assert _columns(shown) > min(width - 10, 0.6 * width)
    assert " ".join(" ".join(lines[3:]).replace("|", "").replace("^", "").split()) == note


def test_several_lines_and_a_fix_are_no_wider_than_the_terminal() -> None:
    source = _source("if x:\n    print(" + "a" * 60 + ")\n    print(1)\nprint(2)\n")
    edit = Edit(Span(16, 20), "bcd" * 30)
    one = ALWAYS_TRUE.at(Span(0, 85), text="x", hint=Hint("a hint " * 20, edits=(edit,)))
    for width in (40, 80):
        lines = render_text([one], source, width).splitlines()
        assert max(map(_columns, lines[2:])) <= width


def _columns(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in text)


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
