"""Replies to types that admit text, nil, maps or bools: each says what it says, or is asked again.

Where two readings are equally good, there is none; neither is there for what no rule names.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Literal

import pytest

from runtime_support import ContractError, configure, prompt
from runtime_support.testing import Scripted

pytestmark = pytest.mark.one_python


class Again:
    """The reply is refused, so that the model is asked again."""

    def __repr__(self) -> str:
        return "again"


again = Again()


@dataclass
class Person:
    name: str
    phone: str | None = None


@dataclass
class Box:
    x: int


@dataclass
class Counts:
    counts: dict[str, int]


def read(type_: Any, text: str) -> Any:
    with configure(provider=Scripted([text]), max_repairs=0):
        try:
            return data_of(prompt("?", returns=type_).value)
        except ContractError:
            return again


def data_of(value: Any) -> Any:
    """The value, records as objects."""
    if isinstance(value, dict):
        return {key: data_of(one) for key, one in value.items()}
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def fence(text: str, word: str = "json") -> str:
    return f"```{word}\n{text}\n```"


STRING_OR_NIL: list[tuple[str, Any]] = [
    (fence("null"), None),
    (fence("null", ""), None),
    (fence("None"), None),
    (fence('"Oslo"'), "Oslo"),
    (fence('"Oslo"', ""), "Oslo"),
    ('Here you are:\n\n```json\n"Oslo"\n```\nBye!', "Oslo"),
    ("Here you are:\n```json\nnull\n```", None),
    ('The answer is "Oslo".', again),
    ("Oslo", again),
    ("None", None),
    ("nil", again),
    ("null.", again),
    ("**null**", again),
    ("`null`", again),
    ("undefined", again),
    ("NULL", again),
    ("N/A", again),
    ("I don't know.", again),
    ("The answer is null.", again),
    ("There is no phone number.", again),
    ("unknown", again),
    ("-", again),
    (fence("Oslo"), again),
    (fence("print(1)", "python"), again),
    ('"N/A"', "N/A"),
    ('"null"', "null"),
    ('"I don\'t know."', "I don't know."),
    ('{"value": "Oslo"}', again),
    ('{"value": null}', again),
    (fence('{"value": "Oslo"}'), again),
    (fence('{"value": null}'), again),
    ('Sure:\n{"value": "Oslo"}', again),
    ('I think that {"value": "Oslo"} says it.', again),
    ('{"error": "not found"}', again),
    ('{"city": "Oslo"}', again),
    ('["Oslo"]', again),
    ("<think>null?</think>Oslo", again),
    ("<think>Oslo?</think>null", None),
]

INT_OR_STRING: list[tuple[str, Any]] = [
    (fence('"Oslo"'), "Oslo"),
    (fence("7"), 7),
    (fence('"7"'), "7"),
    ("7", 7),
    ("Oslo", again),
    ("hello there", again),
    ('The answer is "Oslo".', again),
    ("The answer is 7", again),
    ("7 apples", again),
    ("1,200", again),
    ("$5", again),
    ("None", again),
    ("N/A", again),
    ("I don't know.", again),
    ('{"value": "7"}', again),
    ('{"value": 7}', again),
    ('{"answer": 7}', again),
    ('{"answer": "7"}', again),
    ('The port is {"port": 8080}.', again),
    (fence("Oslo"), again),
    ("7.", again),
    ("Room 7", again),
    ("seven", again),
    ("about 7", again),
]

ANY: list[tuple[str, Any]] = [
    (fence("null"), None),
    (fence("None"), None),
    (fence('"Oslo"'), "Oslo"),
    ("null.", again),
    ("None", None),
    ("nil", again),
    ("True", True),
    ("hello", again),
    ("N/A", again),
    ("I don't know.", again),
    ("The answer is 7", again),
    ("7 apples", again),
    ("Yes.", again),
    ("- a\n- b", again),
    ("Note: the name is Ada", again),
    ("name: Ada\nage: 36", again),
    ("See [1] for more.", again),
    (fence("print(1)", "python"), again),
    ('{"value": "Oslo"}', {"value": "Oslo"}),
    ('{"a": 1, "a": 2}', again),
    ("{a: None, b: nil}", again),
    ("{a: N/A}", again),
    ("{a: Ada Lovelace}", again),
]

TEXTS: list[tuple[str, Any]] = [
    ("I don't know.", again),
    ("There are none.", again),
    ("No", again),
    ("N/A", again),
    ("Oslo", again),
    ("Nothing.", again),
    ("- I don't know.", again),
    ("1. There are none.", again),
    ("<answer>I don't know.</answer>", again),
    (fence('"Oslo"'), again),
    (fence('["Oslo"]'), ["Oslo"]),
    ('"Oslo"', again),
    ('"New York"', again),
    ('"J. R. R. Tolkien"', again),
    ('"I don\'t know."', again),
    ('"There are none."', again),
    ('"none"', again),
    ('"Oslo is the capital. It is in Norway."', again),
    ("- Oslo", again),
    ("- Oslo\n- Rome", again),
    ("- The server is slow.\n- The disk is full.", again),
    ('{"value": ["Oslo"]}', ["Oslo"]),
    ('{"cities": ["Oslo"]}', ["Oslo"]),
    ("[]", []),
    ("null", again),
]

INT_MAP: list[tuple[str, Any]] = [
    ('{"counts": {"tea": 3, "cake": 1}}', again),
    ('{"counts": {"tea": 3}}', again),
    ('{"value": {"tea": 3}}', again),
    ('{"value": {"tea": 3, "cake": 1}}', again),
    ('{"tea": {"count": 3}, "cake": {"count": 1}}', again),
    (fence('{"counts": {"tea": 3}}'), again),
    ('Sure: {"counts": {"tea": 3}}', again),
    ('{"a": {"b": {"c": 3}}}', again),
    ('{"tea": 3}', {"tea": 3}),
    ('{"value": 3}', {"value": 3}),
    ('[{"tea": 3}]', again),
    ('"{\\"tea\\": 3}"', {"tea": 3}),
    ("tea: 3\ncake: 1", again),
    ("Answer: 7", again),
    (fence("tea: 3", "yaml"), again),
    ('{"tea": 3, "tea": 4}', again),
    ("<answer>42</answer>", again),
]

TEXT_MAP: list[tuple[str, Any]] = [
    ("Note: the name is Ada", again),
    ("Note: I looked it up.\nAnswer: I don't know.", again),
    ("Well, I think so\nMaybe, who knows\nPerhaps, but not today", again),
    ('{"Norway": {"capital": "Oslo"}}', again),
    ('{"Norway": {"capital": "Oslo"}, "Italy": {"capital": "Rome"}}', again),
    ('{"Norway": "Oslo"}', {"Norway": "Oslo"}),
    ("Norway: Oslo\nItaly: Rome", again),
    ('"Note: the name is Ada"', again),
]

BOOL: list[tuple[str, Any]] = [
    ("Yes and no.", again),
    ("Yes/no", again),
    ("It depends: yes and no", again),
    ("Hardly yes.", again),
    ("Barely true.", again),
    ("Almost yes", again),
    ("Yes or no", again),
    ("yes, no", again),
    ("No and yes.", again),
    ("True and false.", again),
    ("Yes, partly.", again),
    ("Yes, if it rains.", again),
    ("Yes (no)", again),
    ("Theoretically yes.", again),
    ("50% true.", again),
    ("Yes, it is.", again),
    ("No, it isn't spam.", again),
    ("Yes, no doubt.", again),
    ("The statement is false.", again),
    (fence("Yes and no."), again),
    (fence("yes"), True),
    (fence('"yes"'), True),
    ('"Yes and no."', again),
    ('{"value": "Yes and no."}', again),
    ('{"value": true}', True),
]

OTHERS: list[tuple[Any, str, Any]] = [
    (bool | str, "Yes", again),
    (bool | str, "True", True),
    (bool | str, "Perhaps", again),
    (bool | str, "It is green", again),
    (Literal["red"] | str, "red", again),
    (Literal["red"] | str, "The answer is red", again),
    (list[str] | str, "- a\n- b", again),
    (list[str] | str, '"a"', "a"),
    (list[str] | None, "None", None),
    (list[str] | None, "I don't know.", again),
    (list[str | None], "I don't know.", again),
    (list[str | int], "I don't know.", again),
    (list[Any], "I don't know.", again),
    (list[Any], '"solo"', again),
    (list[bool], "No", again),
    (dict[str, int] | None, '{"counts": {"tea": 3}}', again),
    (dict[str, int] | None, "None.", again),
    (int | dict[str, int], '{"counts": {"tea": 3}}', again),
    (int | dict[str, int], '{"a": {"b": {"c": 3}}}', again),
    (dict[str, Box], '{"sizes": {"a": {"x": 1}}}', again),
    (dict[str, Box], '{"a": {"x": 1}}', {"a": {"x": 1}}),
    (dict[str, list[int]], '{"a": {"b": [1]}}', again),
    (dict[str, list[Box]], '{"sizes": {"a": {"x": 1}}}', again),
    (dict[str, dict[str, int]], '{"a": {"b": {"c": 1}}}', again),
    (dict[str, int | None], '{"counts": {"tea": 3}}', again),
    (dict[str, str | None], '{"Norway": {"capital": "Oslo"}}', again),
    (dict[str, str | None], '{"Norway": {"value": "Oslo"}}', again),
    (dict[str, str | None], "Note: the name is Ada", again),
    (dict[str, bool], '{"spam": "Yes and no."}', again),
    (dict[str, Any], '{"counts": {"tea": 3}}', {"counts": {"tea": 3}}),
    (dict[str, Any], "Note: the name is Ada", again),
    (list[dict[str, int]], '{"counts": {"tea": 3}}', again),
    (list[dict[str, int]], '{"rows": [{"tea": 3}]}', [{"tea": 3}]),
    (list[dict[str, int]], '{"tea": 3}', again),
    (list[dict[str, str]], "Note: the name is Ada", again),
    (Counts, '{"counts": {"totals": {"tea": 3}}}', again),
    (Counts, '{"counts": {"tea": 3}}', {"counts": {"tea": 3}}),
    (Box, '{"x": {"years": 36}}', again),
    (Person, '{"name": "Ada", "phone": "null"}', {"name": "Ada", "phone": "null"}),
    (Person, "{name: Ada, phone: None}", again),
    (Person, "{name: Ada, phone: null.}", again),
    (Person, "{name: Ada, phone: N/A}", again),
    (Person, "{name: Ada, phone: not known}", again),
    (Person, "name: Ada\nphone: N/A", again),
    (Person, "name: Ada\nphone: 5550100", again),
    (Person, '{"person": {"name": "Ada"}}', {"name": "Ada", "phone": None}),
    (Person | str, "hello", again),
    (Person | str, fence('{"name": "Ada"}'), {"name": "Ada", "phone": None}),
    (tuple[str, list[str]], '["a", "None of them fits."]', again),
]


CASES = [
    *((str | None, *case) for case in STRING_OR_NIL),
    *((int | str, *case) for case in INT_OR_STRING),
    *((Any, *case) for case in ANY),
    *((list[str], *case) for case in TEXTS),
    *((dict[str, int], *case) for case in INT_MAP),
    *((dict[str, str], *case) for case in TEXT_MAP),
    *((bool, *case) for case in BOOL),
    *OTHERS,
]


@pytest.mark.parametrize(("type_", "text", "expected"), CASES, ids=repr)
def test_a_reply_says_what_it_says_or_is_asked_again(type_: Any, text: str, expected: Any) -> None:
    found = read(type_, text)
    assert found == expected
    assert type(found) is type(expected)


PROSE = (
    "The team met on Monday and did not agree on all 3 points. In the end, they chose the second "
    "plan: it is cheaper. Nobody was entirely happy with it, but it can be done in 7 weeks. The "
    "budget is $5,000, which is no problem.\n\nNext steps: Ada writes the draft. Bob reviews it."
)

QUOTES: list[tuple[Any, str, Any]] = [
    (str | None, '"value": "Oslo"', again),
    (str | None, '"Oslo"\n"Rome"', again),
    (str | None, '"Oslo", "Rome"', again),
    (str | None, '"Oslo" or "Rome"', again),
    (str | None, "'Oslo' or 'Rome'", again),
    (int | str, '"a" or "b"', again),
    (list[str], '"Oslo" "Rome"', again),
    (str | list[str], '"Oslo", "Rome"', again),
    (str | None, "“Oslo” or “Rome”", again),
    (str | None, "‘Oslo’, ‘Rome’", again),
    (str | None, '("Oslo" or "Rome")', again),
    (list[str], '["Oslo" or "Rome"]', again),
    (list[str], '["a" and "b", "c"]', again),
    (dict[str, str], '{"a": "Oslo" or "Rome"}', again),
    (dict[str, str], '{"a": "He said "hi" or "ho" to me"}', {"a": 'He said "hi" or "ho" to me'}),
    (str | None, "“say “hi””", again),
    (str | None, "‘it’s fine’", "it’s fine"),
    (str | None, '"say "hi""', again),
    (str | None, '"He said "hi" to me"', again),
    (str | None, '"The "Big" one"', again),
    (str | None, "'it's fine'", "it's fine"),
    (str | None, '"\\"Oslo\\" or \\"Rome\\""', '"Oslo" or "Rome"'),
    (str | None, '`"Oslo"`', again),
    (str | None, fence("null") + "\n" + fence('"Rome"'), again),
    (str | None, "[insert name]", again),
    (int | str, "[object Object]", again),
    (str | None, "[none]", again),
    (list[str], "(empty)", again),
    (list[str], "[no results]", again),
    (list[str], "[Oslo]", again),
    (list[str], "true", again),
]

NUMBERS: list[tuple[Any, str, Any]] = [
    (int | str, "twenty", again),
    (int | str, "thirteen", again),
    (int | str, "one", again),
    (int | str, "a couple", again),
    (int | str, "One of them", again),
    (int, ">= 7", again),
    (float, "7²", again),
    (float, "7 squared", again),
    (float, "7 m²", again),
    (float, "twice 7", again),
    (int, "up to 7", again),
    (int | None, "none of the 7", again),
    (int, "There are 7 above the line.", again),
]

MENTIONS: list[tuple[Any, str, Any]] = [
    (bool, "nothing is true", again),
    (bool, "Nobody said yes", again),
    (bool, "I doubt that it is true", again),
    (bool, "Far from true", again),
    (bool, "Anything but true", again),
    (bool, "In some cases yes", again),
    (bool, "It used to be true", again),
    (bool, "It isnt true", again),
    (bool, "¬true", again),
    (bool, "Critics say no", again),
    (bool, "If only it were true", again),
    (bool, "The email is spam, so the statement is true.", again),
    (bool, "I would say yes.", again),
    (bool, "The claim has been verified as true.", again),
    (bool, "The condition evaluates to true.", again),
    (bool, "**Verdict**: false", again),
    (bool, "=> true", again),
    (Literal["low", "high"], "anything but low", again),
    (Literal["low", "high"], "less than high", again),
    (Literal["low", "high"] | None, "none of low", again),
    (Literal["low", "high"], "The level is low; nothing speaks for more.", again),
    (Literal["low", "high"], "high, as more than 100 users saw it", again),
]

ENTRIES: list[tuple[Any, str, Any]] = [
    (dict[str, str], "| country | capital |\n|---|---|\n| Norway | Oslo |", again),
    (dict[str, int], "| k | n |\n|---|---|\n| tea | 3 |", again),
    (dict[str, str], "country,capital\nNorway,Oslo", again),
    (
        dict[str, str],
        "country,capital\nNorway,Oslo\nItaly,Rome",
        again,
    ),
    (dict[str, str], '[{"key": "a", "value": "b"}]', again),
    (dict[str, Box], '{"sizes": {"x": {"x": 1}}}', again),
    (dict[str, Box], '{"a": {"x": {"years": 1}}}', again),
]

REMARKS: list[tuple[Any, str, Any]] = [
    (Any, PROSE, again),
    (Any, f"{PROSE}\n\n- a\n- b", again),
    (Any, f'{PROSE}\n\n```python\nx = {{"a": 1}}\n```', again),
    (Any, 'Here is code:\n```python\nprint({"a": 1})\n```', again),
    (Any, 'def f():\n    return {"a": 1}\n', again),
    (Any, 'Here: {"a": 1}', again),
    (Any, 'The answer is:\n\n```json\n{"a": 1}\n```\nBye!', {"a": 1}),
    (int | str, PROSE, again),
    (str | None, PROSE, again),
]


@pytest.mark.parametrize("text", ["Oslo", "seven", "Here: null", "N/A"])
def test_the_model_is_told_what_to_write(text: str) -> None:
    with (
        configure(provider=Scripted([text]), max_repairs=0),
        pytest.raises(ContractError) as refused,
    ):
        prompt("?", returns=int | str | None)
    ((_, reason),) = refused.value.attempts
    assert reason == "the reply is not JSON: write a text in double quotes, no value as null"


@pytest.mark.parametrize(
    ("type_", "text", "expected"), [*QUOTES, *NUMBERS, *MENTIONS, *ENTRIES, *REMARKS], ids=repr
)
def test_what_stands_beside_a_value_counts(type_: Any, text: str, expected: Any) -> None:
    assert read(type_, text) == expected
