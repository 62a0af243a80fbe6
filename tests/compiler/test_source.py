"""Source texts: line ends, byte order marks, and offsets as lines and columns."""

import pytest

from saftc.source import Position, Source, Span, common_ends

pytestmark = pytest.mark.one_python


def _source(text: str) -> Source:
    return Source.from_text("in.saft", text)


def test_crlf_becomes_lf() -> None:
    assert _source("a\r\nb\r\n").text == "a\nb\n"


def test_a_lone_carriage_return_stays() -> None:
    assert _source("a\rb").text == "a\rb"


def test_byte_order_mark_is_dropped_once() -> None:
    assert _source("\ufeffa").text == "a"
    assert Source.from_bytes("in.saft", b"\xef\xbb\xbfx = 1").text == "x = 1"
    assert _source("a\ufeff").text == "a\ufeff"


def test_bytes_that_are_no_utf8_stay_in_place() -> None:
    source = Source.from_bytes("in.saft", b"ab\xff\xc3\xa9")
    assert source.text == "ab\udcff\u00e9"


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ("", 0, (1, 1)),
        ("ab\ncd", 0, (1, 1)),
        ("ab\ncd", 2, (1, 3)),
        ("ab\ncd", 3, (2, 1)),
        ("ab\ncd", 5, (2, 3)),
        ("ab\n", 3, (2, 1)),
        ("日本\nx", 2, (1, 3)),
        ("\n\n\n", 2, (3, 1)),
    ],
)
def test_position(text: str, offset: int, expected: tuple[int, int]) -> None:
    source = _source(text)
    assert source.position(offset) == Position(*expected)
    assert source.line_of(offset) == expected[0]


def test_positions_and_offsets_agree_everywhere() -> None:
    source = _source("one\n\n  three 日本\nfour")
    for offset in range(len(source.text) + 1):
        line, column = source.position(offset)
        assert source.line_start(line) + column - 1 == offset


def test_line_text() -> None:
    source = _source("one\n\nthree")
    assert [source.line_text(line) for line in (1, 2, 3)] == ["one", "", "three"]


def test_line_start_after_the_end() -> None:
    assert _source("one\ntwo").line_start(9) == 7


def test_at() -> None:
    assert _source("one two").at(Span(4, 7)) == "two"


@pytest.mark.parametrize(
    ("one", "other", "ends"),
    [
        ("", "", (0, 0)),
        ("abc", "abc", (3, 0)),
        ("abc", "abxc", (2, 1)),
        ("aa", "aaa", (2, 0)),
        ("abc", "xyz", (0, 0)),
        ("xbc", "abc", (0, 2)),
    ],
)
def test_common_ends(one: str, other: str, ends: tuple[int, int]) -> None:
    assert common_ends(one, other) == ends
