"""Text to tokens: the modes, soft keywords, indentation, and reading on after a mistake."""

import pytest

from saftc.diagnostics.model import Collector
from saftc.source import Source
from saftc.syntax.lexer import lex
from saftc.syntax.texts import dedent

pytestmark = pytest.mark.one_python


def _kinds(text: str) -> str:
    found = Collector()
    lexed = lex(Source.from_text("in.saft", text), found)
    assert found.report() == ()
    return " ".join(token.kind for token in lexed.tokens)


def _values(text: str) -> list[str]:
    return [token.text for token in lex(Source.from_text("in.saft", text), Collector()).tokens]


def _codes(text: str) -> list[str]:
    found = Collector()
    lex(Source.from_text("in.saft", text), found)
    return [diagnostic.code for diagnostic in found.report()]


def test_prompt_with_holes() -> None:
    assert _kinds("x = $ add {a} to {b:raw} $  // note") == (
        "NAME ASSIGN PROMPT_START PROMPT_TEXT HOLE_START NAME HOLE_END PROMPT_TEXT HOLE_START NAME "
        "COLON NAME HOLE_END PROMPT_TEXT PROMPT_END NEWLINE"
    )


def test_prompts_nest_in_holes() -> None:
    assert _kinds("$a{$b{c}$}$") == (
        "PROMPT_START PROMPT_TEXT HOLE_START PROMPT_START PROMPT_TEXT HOLE_START NAME HOLE_END "
        "PROMPT_END HOLE_END PROMPT_END NEWLINE"
    )


def test_a_brace_in_a_hole_is_an_object() -> None:
    assert _kinds("$ {{a: 1}} $") == (
        "PROMPT_START PROMPT_TEXT HOLE_START LBRACE NAME COLON INTEGER RBRACE HOLE_END PROMPT_TEXT "
        "PROMPT_END NEWLINE"
    )


def test_blocks() -> None:
    assert _kinds("if a:\n    b\n    if c:\n        d\ne\n") == (
        "IF NAME COLON NEWLINE INDENT NAME NEWLINE IF NAME COLON NEWLINE INDENT NAME NEWLINE "
        "DEDENT DEDENT NAME NEWLINE"
    )


def test_blocks_end_with_the_file() -> None:
    assert _kinds("if a:\n  b").endswith("NAME NEWLINE DEDENT")


def test_blank_lines_and_comments_do_not_end_blocks() -> None:
    assert _kinds("if a:\n    b\n\n// c\n    d\n") == (
        "IF NAME COLON NEWLINE INDENT NAME NEWLINE NAME NEWLINE DEDENT"
    )


def test_lines_do_not_count_inside_brackets() -> None:
    assert _kinds("x = [\n1,\n      2\n  ]\ny\n") == (
        "NAME ASSIGN LSQB INTEGER COMMA INTEGER RSQB NEWLINE NAME NEWLINE"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f g():", "FUNCTION NAME LPAR RPAR COLON NEWLINE"),
        ("f(1)", "NAME LPAR INTEGER RPAR NEWLINE"),
        ("f = 1", "NAME ASSIGN INTEGER NEWLINE"),
        ("x = f", "NAME ASSIGN NAME NEWLINE"),
        ("type A = int", "TYPE NAME ASSIGN NAME NEWLINE"),
        ("type(a)", "NAME LPAR NAME RPAR NEWLINE"),
        ("type = 1", "NAME ASSIGN INTEGER NEWLINE"),
        ("conv g():", "CONV NAME LPAR RPAR COLON NEWLINE"),
        ("do $a$", "DO PROMPT_START PROMPT_TEXT PROMPT_END NEWLINE"),
        ("do = 1", "NAME ASSIGN INTEGER NEWLINE"),
        ("x = program $a$", "NAME ASSIGN PROGRAM PROMPT_START PROMPT_TEXT PROMPT_END NEWLINE"),
        ("program.a", "NAME DOT NAME NEWLINE"),
        ("$a$ with b", "PROMPT_START PROMPT_TEXT PROMPT_END WITH NAME NEWLINE"),
        ("with = 1", "NAME ASSIGN INTEGER NEWLINE"),
        ("from a import b as c", "FROM NAME IMPORT NAME AS NAME NEWLINE"),
        ("import a.b as c", "IMPORT NAME DOT NAME AS NAME NEWLINE"),
        ("from = 1", "NAME ASSIGN INTEGER NEWLINE"),
        ("print(as)", "NAME LPAR NAME RPAR NEWLINE"),
        ("row.if", "NAME DOT NAME NEWLINE"),
        ("row.type", "NAME DOT NAME NEWLINE"),
        ("{a: int} = b", "PATTERN_START NAME COLON NAME RBRACE ASSIGN NAME NEWLINE"),
        ("x = {a: 1}", "NAME ASSIGN LBRACE NAME COLON INTEGER RBRACE NEWLINE"),
    ],
)
def test_words_and_braces_by_their_place(text: str, expected: str) -> None:
    assert _kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", "FLOAT"),
        ("1e3", "FLOAT"),
        ("1e-3", "FLOAT"),
        ("1_000.5", "FLOAT"),
        ("12", "INTEGER"),
        ("x.0.1", "NAME DOT INTEGER DOT INTEGER"),
        ("x.0", "NAME DOT INTEGER"),
        ("1 - 2", "INTEGER MINUS INTEGER"),
        ("1-2", "INTEGER MINUS INTEGER"),
        ("a<=b", "NAME AT_MOST NAME"),
        ("a<-b", "NAME LESS MINUS NAME"),
        ("a->b", "NAME ARROW NAME"),
        ("not in", "NOT IN"),
    ],
)
def test_numbers_and_operators(text: str, expected: str) -> None:
    assert _kinds(text) == f"{expected} NEWLINE"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'"a\n\t\r\"\\"', 'a\n\t\r"\\'),
        (r'"\u00e9\ud83d\ude00"', "é😀"),
        ('"// $ {x}"', "// $ {x}"),
        ('"""a "b" c"""', 'a "b" c'),
        ('"""\n    a\n      b\n    """', "\na\n  b\n"),
        ('"""a\n    b\n    c"""', "a\nb\nc"),
    ],
)
def test_strings(text: str, expected: str) -> None:
    assert _values(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" hello ", "hello"),
        ("\n    a\n      b\n\n    c\n", "a\n  b\n\nc"),
        (" first\n    second\n  third ", "first\n  second\nthird"),
        ("", ""),
        ("\n\n\n", ""),
        ("\n    a\n\n", "a"),
    ],
)
def test_dedent(text: str, expected: str) -> None:
    assert dedent(text) == expected


def test_comments_are_kept_apart() -> None:
    lexed = lex(Source.from_text("in.saft", "// a\nx = 1 // b\n/// c\n"), Collector())
    assert [(c.text, c.is_trailing, c.is_doc) for c in lexed.comments] == [
        ("// a", False, False),
        ("// b", True, False),
        ("/// c", False, True),
    ]


def test_each_token_knows_its_place() -> None:
    text = 'x = $ a {b + "c"} $ // d\nif y:\n    z[1:2].w\n'
    for token in lex(Source.from_text("in.saft", text), Collector()).tokens:
        if token.kind not in ("STRING", "NEWLINE", "INDENT", "DEDENT"):
            assert text[slice(*token.span)] == token.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a = "x\nb = "y\nc = 1_\n', ["SAFT0105", "SAFT0105", "SAFT0107"]),
        ("a = [1\nb = $ x\nc = 1_\n", ["SAFT0109", "SAFT0108", "SAFT0107"]),
        ("a = )\nb = 'c\n", ["SAFT0110", "SAFT0102"]),
        ("a = $ {b $\nc = 1_\n", ["SAFT0109", "SAFT0107"]),
    ],
)
def test_reading_goes_on_after_a_mistake(text: str, expected: list[str]) -> None:
    assert _codes(text) == expected
