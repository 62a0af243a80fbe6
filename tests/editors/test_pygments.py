"""The Pygments lexer: it changes nothing, knows every construct, and agrees with the compiler."""

import re
import subprocess
import sys

import pytest
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
)

from saftc.diagnostics.model import Collector
from saftc.editors import SaftLexer
from saftc.source import Source
from saftc.syntax.lexer import lex
from saftc.syntax.tokens import KEYWORDS, SOFT_KEYWORDS
from saftc.types.builtins import BUILTINS
from tests.editors.scripts import SCRIPTS

pytestmark = pytest.mark.one_python

# A kind of the compiler's tokens, and what it may be coloured as.
COLOURS = {
    "NAME": (Name, Keyword.Type, Keyword.Pseudo),
    "INTEGER": (Number.Integer,),
    "FLOAT": (Number.Float,),
    "STRING": (String.Double, String.Escape),
    "PROMPT_START": (String.Delimiter,),
    "PROMPT_TEXT": (String.Other, String.Escape),
    "PROMPT_END": (String.Delimiter,),
    "HOLE_START": (String.Interpol,),
    "HOLE_END": (String.Interpol,),
    "FORMAT_START": (String.Double,),
    "FORMAT_TEXT": (String.Double, String.Escape),
    "FORMAT_HOLE_START": (String.Interpol,),
    "FORMAT_SPEC": (String.Interpol,),
    "FORMAT_HOLE_END": (String.Interpol,),
    "FORMAT_END": (String.Double,),
    **{kind: (Keyword, Operator.Word) for kind in KEYWORDS.values()},
    **{kind: (Keyword,) for kind in SOFT_KEYWORDS.values()},
}
LAYOUT = ("NEWLINE", "INDENT", "DEDENT")


def tokens_of(text):
    """The tokens of `text`; Pygments adds no end of line and removes no blanks."""
    return list(SaftLexer(stripnl=False, ensurenl=False).get_tokens(text))


def coloured(text):
    """The tokens of `text` that are no blanks."""
    return [(kind, value) for kind, value in tokens_of(text) if kind is not Whitespace]


def kinds_at(text):
    """The kind of each character."""
    return [kind for kind, value in tokens_of(text) for _ in value]


@pytest.mark.parametrize("name", SCRIPTS)
def test_reproduces_its_input_without_errors(name):
    tokens = tokens_of(SCRIPTS[name])
    assert "".join(value for _, value in tokens) == SCRIPTS[name]
    assert [value for kind, value in tokens if kind in Error] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_agrees_with_the_compiler(name):
    text = SCRIPTS[name]
    kinds = kinds_at(text)
    found = Collector()
    lexed = lex(Source.from_text(name, text), found)
    assert found.report() == ()
    for token in lexed.tokens:
        if token.kind in LAYOUT:
            continue
        wanted = COLOURS.get(token.kind, (Operator, Punctuation))
        for offset in range(*token.span):
            is_right = any(kinds[offset] in kind for kind in wanted)
            assert is_right, (token, token.kind, offset, kinds[offset])
            is_keyword = kinds[offset] in (Keyword, Keyword.Declaration, Keyword.Namespace)
            assert not (token.kind == "NAME" and is_keyword)
    for comment in lexed.comments:
        wanted = String.Doc if comment.is_doc else Comment.Single
        assert set(kinds[slice(*comment.span)]) == {wanted}


def test_prompts_nest_in_holes():
    assert coloured("x = $ a {$ b {c} $} d $") == [
        (Name, "x"),
        (Operator, "="),
        (String.Delimiter, "$"),
        (String.Other, " a "),
        (String.Interpol, "{"),
        (String.Delimiter, "$"),
        (String.Other, " b "),
        (String.Interpol, "{"),
        (Name, "c"),
        (String.Interpol, "}"),
        (String.Other, " "),
        (String.Delimiter, "$"),
        (String.Interpol, "}"),
        (String.Other, " d "),
        (String.Delimiter, "$"),
    ]


def test_prompts_nest_to_any_depth():
    depth = 200
    text = "x = " + "$ {" * depth + "y" + "} $" * depth + "\nz = nil\n"
    tokens = coloured(text)
    assert tokens.count((String.Interpol, "{")) == tokens.count((String.Interpol, "}")) == depth
    assert tokens[-3:] == [(Name, "z"), (Operator, "="), (Keyword.Constant, "nil")]


def test_an_escaped_dollar_does_not_end_a_prompt():
    assert coloured(r"x = $ for \$5 \{ $ // $")[2:] == [
        (String.Delimiter, "$"),
        (String.Other, " for "),
        (String.Escape, r"\$"),
        (String.Other, "5 "),
        (String.Escape, r"\{"),
        (String.Other, " "),
        (String.Delimiter, "$"),
        (Comment.Single, "// $"),
    ]


def test_slashes_in_a_prompt_are_text_and_in_a_hole_a_comment():
    text = "x = $ a // b {c // d}\n} // e $"
    tokens = coloured(text)
    assert (String.Other, " a // b ") in tokens
    assert (Comment.Single, "// d}") in tokens
    assert (String.Other, " // e ") in tokens


@pytest.mark.parametrize("hole", ["{x:raw}", "{x: raw }", "{g(raw: 1)[0:raw]:raw}"])
def test_a_format_is_told_from_a_key_and_a_slice(hole):
    tokens = coloured(f"y = $ {hole} $")
    assert tokens.count((Keyword.Pseudo, "raw")) == 1
    assert tokens[-4:-2] == [(Keyword.Pseudo, "raw"), (String.Interpol, "}")]


def test_an_object_in_a_hole_has_no_format():
    assert (Keyword.Pseudo, "raw") not in coloured("y = $ {{x: raw}} $")


def test_f_is_a_keyword_before_a_name_only():
    assert coloured("f f(f):\n    ret f\nf = f(1)\n") == [
        (Keyword.Declaration, "f"),
        (Name.Function, "f"),
        (Punctuation, "("),
        (Name, "f"),
        (Punctuation, ")"),
        (Punctuation, ":"),
        (Keyword, "ret"),
        (Name, "f"),
        (Name, "f"),
        (Operator, "="),
        (Name, "f"),
        (Punctuation, "("),
        (Number.Integer, "1"),
        (Punctuation, ")"),
    ]


@pytest.mark.parametrize(
    ("text", "is_keyword"),
    [
        ("x = $ a $ with y", True),
        ("x = [$ a $\n    // why\n    with y]", True),
        ("x = $ a $ after z with y", True),
        ("x = $ a $\nwith = 1", False),
        ("x = [$ a $, with]", False),
        ("x = [y // $\n    , with]", False),
    ],
)
def test_with_is_a_keyword_behind_a_prompt_only(text, is_keyword):
    assert ((Keyword, "with") in coloured(text)) is is_keyword


@pytest.mark.parametrize("word", ["do", "program", "stream"])
def test_modes_are_keywords_before_a_prompt_only(word):
    tokens = coloured(f"{word} = {word} $ {word} $")
    assert [kind for kind, value in tokens if value == word] == [Name, Keyword]


def test_schemas_end_where_they_end():
    tokens = coloured("f g(x: int = int(y), z: [string] = string) -> int: ret int\n")
    assert [kind for kind, value in tokens if value == "int"] == [
        Keyword.Type,
        Name.Builtin,
        Keyword.Type,
        Name.Builtin,
    ]
    assert [kind for kind, value in tokens if value == "string"] == [Keyword.Type, Name]


def test_a_key_is_no_builtin():
    tokens = coloured("x = {min: min}\ny = g(min: x.min)\n")
    found = [kind for kind, value in tokens if value == "min"]
    assert found == [Name.Attribute, Name.Builtin, Name.Attribute, Name.Attribute]


def test_members_of_tuples_are_no_floats():
    tokens = coloured("x = pair.0.1 + 0.1")
    numbers = [(kind, value) for kind, value in tokens if kind in Number]
    assert numbers == [(Number.Integer, "0"), (Number.Integer, "1"), (Number.Float, "0.1")]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (r'x = "a\q"', [r"\q"]),
        ("x = 012", ["012"]),
        ("x = 1__0", ["1__0"]),
        ("x = $ a } $", ["}"]),
        ("x = a # b", ["#"]),
        ("x = 'a'", ["'", "'"]),
    ],
)
def test_mistakes_are_shown(text, wrong):
    tokens = tokens_of(text)
    assert "".join(value for _, value in tokens) == text
    assert [value for kind, value in tokens if kind in Error] == wrong


def test_an_unclosed_string_ends_with_its_line():
    assert coloured('x = "a\ny = 1\n')[-3:] == [
        (Name, "y"),
        (Operator, "="),
        (Number.Integer, "1"),
    ]


def test_any_prefix_of_a_script_is_read():
    text = SCRIPTS["holes.saft"]
    for end in range(0, len(text), 7):
        assert "".join(value for _, value in tokens_of(text[:end])) == text[:end]


def test_every_builtin_is_coloured_in_full():
    for word in BUILTINS:
        assert coloured(f"x = {word}(y)")[2] == (Name.Builtin, word)
        assert coloured(f"x = {word}_(y)")[2] == (Name, f"{word}_")


def test_the_lexer_describes_itself():
    assert SaftLexer.name == "Saft"
    assert "saft" in SaftLexer.aliases
    assert "*.saft" in SaftLexer.filenames
    assert "text/x-saft" in SaftLexer.mimetypes


def test_the_package_does_not_need_pygments():
    code = "import sys, saftc.cli.app; print([m for m in sys.modules if m.startswith('pygments')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.sub(r"\s", "", run.stdout) == "[]"


def test_the_first_line_may_name_the_command():
    assert coloured("#!/usr/bin/env saftc\nx = 1\n")[0] == (
        Comment.Hashbang,
        "#!/usr/bin/env saftc",
    )
