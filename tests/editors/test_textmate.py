"""The TextMate grammar: it is well formed and colours scripts as the Pygments lexer does."""

import json
import re
from pathlib import Path

import pytest
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    String,
)

from saftc.syntax.tokens import KEYWORDS, SOFT_KEYWORDS
from saftc.types.builtins import BUILTINS
from saftc.types.types import BUILT_IN, DATES
from tests.editors import textmate
from tests.editors.scripts import SCRIPTS
from tests.editors.test_pygments import kinds_at
from tests.editors.textmate import GRAMMAR, REPOSITORY, rules, scopes_of

pytestmark = pytest.mark.one_python

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"
RULES = list(rules())
EXPRESSIONS = [rule[key] for rule in RULES for key in ("match", "begin", "end") if key in rule]

# A colour of the lexer, and the scope that stands for it.
SCOPES = {
    Comment.Single: "comment.line.double-slash.saft",
    String.Doc: "comment.line.documentation.saft",
    Keyword: "keyword.control",
    Keyword.Declaration: "storage.type",
    Keyword.Namespace: "keyword.control.import.saft",
    Keyword.Constant: "constant.language.saft",
    Keyword.Type: "support.type.saft",
    Keyword.Pseudo: "storage.modifier.format.saft",
    Operator.Word: "keyword.operator.logical.python.saft",
    Operator: "keyword.operator",
    Name: "variable",
    Name.Function: "entity.name.function.saft",
    Name.Class: "entity.name.type.saft",
    Name.Namespace: "entity.name.namespace.saft",
    Name.Attribute: "variable.other.member.saft",
    Name.Builtin: "support.function.builtin.saft",
    Number.Integer: "constant.numeric.integer.saft",
    Number.Float: "constant.numeric.float.saft",
    String.Escape: "constant.character.escape.saft",
    String.Other: "string.unquoted.prompt.saft",
    String.Delimiter: "punctuation.definition.prompt",
    String.Interpol: "punctuation.section.hole",
    Error: "invalid.illegal",
}
# Each soft keyword in its place.
IN_PLACE = {
    "f": "f g(): ret 1",
    "type": 'type Label = "a"',
    "conv": "conv g(x: int) -> string: ret str(x)",
    "do": "x = do $ a $",
    "program": "x = program $ a $",
    "stream": "x = stream do $ a $",
    "with": "x = $ a $ with fast",
    "after": "x = $ a $ with fast after y",
    "try": "try: a()",
    "except": "except error: b()",
    "fail": 'if a: fail "no"',
    "from": "from m import a",
    "mcp": 'from mcp("m") import a',
    "import": "import m",
    "as": "import m as a",
}
QUOTES = ("string.quoted", "punctuation.definition.string")

# Oniguruma, Python and the engines of other editors read these alike.
COMMON = re.compile(r"\(\?(?:[:=!]|<[=!])|\\[.$(){}\[\]\\bstrn|]|[^\\]")


def words_of(pattern):
    """The words of the alternation that a pattern is."""
    return re.fullmatch(r"\\b\(\?:([a-z_|]+)\)\\b", pattern)[1].split("|")


def test_there_is_one_grammar():
    assert GRAMMAR["scopeName"] == "source.saft"
    assert GRAMMAR["fileTypes"] == ["saft"]
    shipped = EXTENSION / "syntaxes" / "saft.tmLanguage.json"
    assert shipped.read_bytes() == textmate.PATH.read_bytes()


def test_includes_are_in_the_repository_and_all_of_it_is_used():
    includes = {rule["include"].removeprefix("#") for rule in RULES if "include" in rule}
    assert includes == set(REPOSITORY)


def test_rules_are_of_the_known_forms():
    known = {
        "name", "match", "captures", "begin", "end", "beginCaptures", "endCaptures", "patterns",
        "include",
    }  # fmt: skip
    for rule in RULES[1:]:
        assert set(rule) <= known
        assert len({"match", "begin", "include"} & set(rule)) == 1 or set(rule) == {"patterns"}
        assert ("begin" in rule) == ("end" in rule)


@pytest.mark.parametrize("pattern", EXPRESSIONS)
def test_expressions_are_common_to_all_engines(pattern):
    re.compile(pattern)
    assert "".join(COMMON.findall(pattern)) == pattern
    assert not re.search(r"[*+?}][+]|\[\[:|&&", re.sub(r"\[[^\]]*\]", "x", pattern))


def test_captures_are_groups_of_their_expression():
    pairs = (("match", "captures"), ("begin", "beginCaptures"), ("end", "endCaptures"))
    for rule in RULES:
        for key, captures in pairs:
            for group in rule.get(captures, {}):
                assert int(group) <= re.compile(rule[key]).groups


def test_scopes_are_of_the_language():
    names = [rule["name"] for rule in RULES[1:] if "name" in rule]
    assert all(re.fullmatch(r"[a-z-]+(\.[a-z-]+)*\.saft", name) for name in names)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_have_the_colours_of_the_lexer(name):
    text = SCRIPTS[name]
    for offset, (kind, scopes) in enumerate(zip(kinds_at(text), scopes_of(text), strict=True)):
        place = (text[:offset].count("\n") + 1, text[offset : offset + 20], kind, scopes)
        if text[offset].isspace():
            continue
        innermost = scopes[-1] if scopes else ""
        if kind is String.Double:
            assert innermost.startswith(QUOTES), place
        elif kind in SCOPES:
            assert innermost.startswith(SCOPES[kind]), place
        else:
            assert not innermost or innermost.startswith(("punctuation", "meta")), place


@pytest.mark.parametrize("text", ["x = $ a } $", r'x = "a\q"', "x = 012"])
def test_mistakes_are_shown(text):
    illegal = {text[at] for at, scopes in enumerate(scopes_of(text)) if "invalid" in str(scopes)}
    assert illegal == {text[at] for at, kind in enumerate(kinds_at(text)) if kind is Error}


def test_holes_are_embedded_code():
    text = "x = $ a {$ b {c} $} $"
    scopes = scopes_of(text)[text.index("c")]
    prompt, hole = "string.unquoted.prompt.saft", "meta.embedded.hole.saft"
    assert scopes == (prompt, hole, prompt, hole, "variable.other.saft")


def test_words_are_the_compilers():
    lists = [
        words_of(rule["match"])
        for rule in RULES
        if re.fullmatch(r"\\b\(\?:[a-z_|]+\)\\b", rule.get("match", ""))
    ]
    statement, operator, constant, builtin, types = (
        sorted(next(words for words in lists if probe in words))
        for probe in ("ret", "not", "nil", "upper", "any")
    )
    assert len(lists) == 5
    assert operator == ["and", "in", "not", "or"]
    assert constant == ["false", "nil", "true"]
    assert builtin == sorted(BUILTINS)
    assert types == sorted({*BUILT_IN, *DATES} - {"nil"})
    assert sorted([*statement, *operator, *constant]) == sorted(KEYWORDS)


def test_no_keyword_is_taken_for_a_name():
    excluded = [re.findall(r"\(\?!\(\?:([a-z|]+)\)", pattern) for pattern in EXPRESSIONS]
    found = [words for (words,) in filter(None, excluded)]
    assert len(found) == 3
    assert all(words.split("|") == list(KEYWORDS) for words in found)


def test_soft_keywords_are_the_compilers():
    assert set(IN_PLACE) == set(SOFT_KEYWORDS)


@pytest.mark.parametrize("word", IN_PLACE)
def test_soft_keywords_are_coloured_in_place_only(word):
    keyword = ("storage.type", "keyword.control")
    text = IN_PLACE[word]
    assert scopes_of(text)[text.index(word)][-1].startswith(keyword)
    assert not scopes_of(f"{word} = 1")[0][-1].startswith(keyword)
    if word not in ("try", "except"):
        assert not scopes_of(f"{word}: int = 1")[0][-1].startswith(keyword)
    assert scopes_of(f"x = {word}_ + 1")[4] == ("variable.other.saft",)


def test_the_extension_names_files_that_exist():
    package = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    (language,) = package["contributes"]["languages"]
    (grammar,) = package["contributes"]["grammars"]
    assert language["extensions"] == [".saft"]
    assert grammar["language"] == language["id"] == "saft"
    assert grammar["scopeName"] == GRAMMAR["scopeName"]
    assert (EXTENSION / grammar["path"]).is_file()
    configuration = json.loads((EXTENSION / language["configuration"]).read_text("utf-8"))
    assert configuration["comments"] == {"lineComment": "//"}
    rules_ = configuration["indentationRules"]
    assert re.search(rules_["increaseIndentPattern"], "    f g(x) -> int:  // why")
    assert not re.search(rules_["increaseIndentPattern"], "for_ = 1")
