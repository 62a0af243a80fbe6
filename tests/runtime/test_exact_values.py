"""A type means the same everywhere: as a reply, a field, an argument of a tool and a cell of a row.

Each value is the one that is written, or it is asked again: never another.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest

from runtime_support import ContractError, configure, prompt
from runtime_support.testing import Scripted, tool_request
from tests.support.reading import again, ask_tool, read_field, read_reply, read_row

pytestmark = pytest.mark.one_python


@dataclass(frozen=True)
class Person:
    name: str
    age: int


@dataclass(frozen=True)
class Contact:
    name: str
    phone: str | None = None


@dataclass(frozen=True)
class Entry:
    type: Literal["low", "high"]
    dirección: str


class Size(Enum):
    SMALL = "S"
    LARGE = "L"


ADA = Person("Ada", 36)
GRADES = Literal["A+", "A", "A-"]
GRADE = Literal["A+", "B"]
AGES = Literal["<18", "18-30", ">30"]
COMPARED = Literal["<1", "1-2", ">2"]
SIGNS = Literal["-1", "0", "1"]
NOON = dt.datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=dt.UTC)

# What is written as JSON, and what it is, wherever it is asked for.
VALUES: dict[str, list[tuple[Any, str, Any]]] = {
    "labels keep their signs": [
        (GRADE, '"A"', again),
        (GRADE, '"B+"', again),
        (GRADE, '"a+"', "A+"),
        (GRADES, '"A -"', again),
        (GRADES, '"A-"', "A-"),
        (Literal["A-", "B"], '"A+"', again),
        (AGES, '"30"', again),
        (AGES, '"18+"', again),
        (AGES, "18", again),
        (AGES, '"18 - 30"', again),
        (AGES, '"18-30"', "18-30"),
        (COMPARED, '">1"', again),
        (COMPARED, '"<2"', again),
        (SIGNS, '"+1"', again),
        (SIGNS, "1", "1"),
        (Literal["+1", "-1"], "1", again),
        (Literal["C++", "Java"], '"C"', again),
        (Literal["F#", "C#"], '"C"', again),
        (Literal["> 100", "<= 50"], "100", again),
        (Literal["50%", "100%"], '"50"', again),
        (Literal["!important", "other"], '"important"', again),
        (Literal["O(n)", "O(n^2)"], '"On2"', again),
        (Literal["1:1", "1:n"], '"11"', again),
        (Literal["1.5", "15"], '"1-5"', again),
        (Literal["1.5", "15"], '"1.5"', "1.5"),
        (list[GRADE], '["A"]', again),
        (dict[GRADE, int], '{"A": 1}', again),
    ],
    "labels differ in case, accents, and what is between letters": [
        (Literal["low", "high"], '"HIGH"', "high"),
        (Literal["HIGH_PRIORITY", "NONE"], '"High Priority"', "HIGH_PRIORITY"),
        (Literal["café", "tea"], '"CAFE"', "café"),
        (Literal["cafe", "tea"], '"café"', "cafe"),
        (Literal["Straße", "Weg"], '"strasse"', "Straße"),
        (Literal["über", "unter"], '"uber"', "über"),
        (Literal["resume", "résumé"], '"Resume"', again),
        (Literal["resume", "résumé"], '"resume"', "resume"),
        (Literal["か", "が"], '"が"', "が"),
        (Literal["か", "き"], '"が"', again),
        (Literal["и", "к"], '"й"', again),
        (Size, '"l"', Size.LARGE),
        (Size, '"LARGE"', again),
        (Literal[1, 2], '"2"', 2),
        (Literal[1, 2], "2.0", 2),
        (Literal[1, 2], '"2b"', again),
    ],
    "numbers": [
        (int, '"7"', 7),
        (int, "7.0", 7),
        (int, "7.5", again),
        (int, '"7,000"', 7000),
        (int, '"1,234,567"', 1234567),
        (int, '"1 234"', 1234),
        (int, '"$1,234"', 1234),
        (int, '"1,23"', again),
        (int, '"1,234,5"', again),
        (int, '"0,123"', again),
        (int, '"1.234"', again),
        (int, '"1.000"', again),
        (int, '"007"', again),
        (int, '"+7"', again),
        (int, '"7 years"', again),
        (int, '"Error 404"', again),
        (int, "true", again),
        (int, "12345678901234567890.0", 12345678901234567890),
        (float, '"12,345"', again),
        (float, '"3,125"', again),
        (float, '"12,345 kg"', again),
        (float, '"1.234 kg"', again),
        (float, '"1.234 €"', again),
        (float, '"$1.234"', again),
        (float, '"$12,345"', 12345.0),
        (float, '"£12,345"', 12345.0),
        (float, '"€12,345"', again),
        (float, '"1,234.50"', 1234.5),
        (float, '"1,234,567"', 1234567.0),
        (float, '"2,34"', again),
        (float, '"1.5e3"', 1500.0),
        (float, '"85%"', again),
        (float, '"1e400"', again),
        (float, '"inf"', again),
        (float, '"NaN"', again),
        (float, "1e400", again),
        (int | float, '"12,345"', again),
        (int | float, '"7"', 7),
        (Decimal, "12.30", Decimal("12.30")),
        (Decimal, '"12,345"', again),
        (Decimal, '"$1,234.50"', Decimal("1234.50")),
        (Decimal, '"1e400"', Decimal("1e400")),
        (list[int], '["1,000", 2]', [1000, 2]),
        (list[int], '"100,200"', again),
        (list[float], '"1,5"', again),
    ],
    "texts, bools and nil": [
        (dict[str, str], '{"zip": 2139}', {"zip": "2139"}),
        (dict[str, str], '{"version": 1.50}', {"version": "1.50"}),
        (dict[str, str], '{"zip": true}', again),
        (dict[str, str], '{"zip": null}', again),
        (bool, '"yes"', True),
        (bool, '"No"', False),
        (bool, "1", True),
        (bool, "0", False),
        (bool, "2", again),
        (bool, "1.0", again),
        (bool, '"maybe"', again),
        (Contact, '{"name": "Ada", "phone": "null"}', Contact("Ada", "null")),
        (Contact, '{"name": "Ada", "phone": 5550100}', Contact("Ada", "5550100")),
        (int | None, '"N/A"', again),
    ],
    "dates": [
        (dt.date, '"2026-01-31"', dt.date(2026, 1, 31)),
        (dt.date, '"2026-W05"', again),
        (dt.date, '"2026-W05-3"', again),
        (dt.date, "20260131", again),
        (dt.datetime, '"2026-01-31T12:00:00.123456789Z"', NOON),
        (dt.datetime, '"2026-01-31T12:00:00.123456Z"', NOON),
        (dt.datetime, '"2026-01-31T12:00:00"', again),
        (dt.time, '"09:30:00.1234567"', dt.time(9, 30, 0, 123456)),
    ],
    "keys": [
        (Person, '{"Name": "Ada", "AGE": 36}', ADA),
        (Entry, '{"Type": "HIGH", "direccion": "x"}', Entry("high", "x")),
        (Person, '{"name": "Ada", "age": 36, "why": "x"}', ADA),
        (Person, '{"name": "Ada", "why": "x"}', again),
        (Person, '{"name": "Ada", "age": 36, "error": "not found"}', again),
        (Contact, '{"name": "Ada", "phnoe": "1"}', again),
        (Person, '{"name": "Ada", "Name": "Bob", "age": 36}', again),
        (Person, '{"name": "Ada", "name": "Bob", "age": 36}', again),
        (dict[str, str], '{"name": "Ada", "name": "Bob"}', again),
    ],
    "one level": [
        (Person, '{"person": {"name": "Ada", "age": 36}}', ADA),
        (Person, '[{"name": "Ada", "age": 36}]', ADA),
        (list[Person], '{"name": "Ada", "age": 36}', [ADA]),
        (list[Person], '{"people": [{"name": "Ada", "age": 36}]}', [ADA]),
        (list[int], '{"items": [1, 2]}', [1, 2]),
        (Person, '"{\\"name\\": \\"Ada\\", \\"age\\": 36}"', ADA),
        (Person, '{"a": {"b": {"name": "Ada", "age": 36}}}', again),
        (Person, '{"error": {"name": "Ada", "age": 36}}', again),
        (Person, '{"status": "error", "detail": {"name": "Ada", "age": 36}}', again),
        (list[str], '{"error": ["no such user"]}', again),
        (int, '{"error": 404}', again),
        (int, '{"status": 500}', again),
        (int, '{"http": 503}', again),
        (int, '{"value": 7}', 7),
        (int, '{"result": "7"}', 7),
        (int, "[7]", again),
        (bool, '{"error": false}', again),
        (bool, '{"answer": true}', True),
        (GRADE, '{"value": "b"}', "B"),
        (GRADE, '{"grade": "B"}', again),
        (dict[str, int], '{"counts": {"tea": 3}}', again),
        (list[Person], '[{"person": {"name": "Ada", "age": 36}}]', again),
    ],
    "lists of a model alone": [
        (Iterable[int], "[1, 2]", [1, 2]),
        (Iterable[int], '"abc"', again),
        (Iterable[int], '{"a": 1}', again),
        (Collection[int], '"abc"', again),
        (Collection[str], '"x"', again),
    ],
}
CASES = [
    pytest.param(*case, id=f"{kind}-{at}")
    for kind, cases in VALUES.items()
    for at, case in enumerate(cases)
]


@pytest.mark.parametrize(("type_", "written", "expected"), CASES)
@pytest.mark.parametrize("place", [read_reply, read_field, ask_tool], ids=lambda one: one.__name__)
@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
def test_a_value_is_what_is_written_or_asked_again(
    place: Callable[..., Any], is_async: bool, type_: Any, written: str, expected: Any
) -> None:
    found = place(type_, written, is_async=is_async)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("type_", "written", "expected"), CASES)
def test_a_cell_is_what_is_written_or_fails(type_: Any, written: str, expected: Any) -> None:
    found = read_row(type_, written)
    assert found == expected
    assert type(found) is type(expected)


# What a whole reply says in words of its own.
REPLIES: list[tuple[Any, str, Any]] = [
    (int, "Error 404", again),
    (int, "Step 1 failed", again),
    (int, "My training data ends in 2024", again),
    (int, "As of 2023", again),
    (int, "42", 42),
    (int, "42.", 42),
    (int, "**42**", 42),
    (int, "`42`", 42),
    (int, "Answer: 42", 42),
    (int, "The answer is 42.", 42),
    (int, "The answer is 1.000.", again),
    (int, "The total is 42.", again),
    (int, "The answer is 42 apples.", again),
    (int, "1,234", 1234),
    (int, "$1,234.", 1234),
    (list[int], "100,200", again),
    (list[float], "1,5", again),
    (list[int], "See [1] for more.", again),
    (list[int], "See [1, 2].", again),
    (list[int], "Here: [1, 2]", [1, 2]),
    (Literal["yes", "no"], "There is no way to tell", again),
    (Literal["none", "some"], "I have none of the information needed", again),
    (Literal["open", "closed"], "Please open the attachment so I can read it", again),
    (Literal["spam", "ham"], "I was told to answer spam", again),
    (Literal["spam", "ham"], "**Spam**.", "spam"),
    (Literal["spam", "ham"], "The answer is spam.", "spam"),
    (GRADE, "Grade: A", again),
    (GRADE, "A", again),
    (GRADE, "B.", "B"),
    (AGES, "30", again),
    (AGES, "about 30", again),
    (AGES, "The age is 18", again),
    (Literal["gpt-3.5", "gpt-4"], "gpt-4 is dear. Take gpt-3.5.", again),
    (Literal["gpt-3.5", "gpt-4"], "gpt-3.5.", "gpt-3.5"),
    (Literal["node.js", "deno"], "deno is newer. node.js is what you need.", again),
    (Literal["U.S.", "UK"], "the UK is out; the U.S. is in", again),
    (Literal["U.S.", "UK"], "U.S.", "U.S."),
    (Literal["v1.5", "v2"], "I recommend v1.5.", again),
    (Literal["C++", "C#"], "Use C.", again),
    (Literal["50%", "100%"], "50 people", again),
    (bool, "Yes.", True),
    (bool, "Yes and no.", again),
    (list[str], "- Sorry\n- I cannot do that", again),
    (Person, "name: unknown\nage: 0", again),
    (Person, 'Do not use {"name": "Ada", "age": 36}; it is wrong.', again),
    (Person, 'An example of the form is {"name": "Ada", "age": 36}', again),
    (Person, 'The answer is {"name": "Ada", "age": 36}, as computed.', ADA),
    (Person, 'Sure! Here it is: {"name": "Ada", "age": 36}. Let me know!', ADA),
    (Person, 'Sure! {"name": "Ada", "age": 36}', ADA),
    # Keys that are no names are not read; none is taken for a part of the string before it.
    (dict[str, str], "{1: 'one', 2: 'two'}", again),
    (dict[str, str], "{\"a\": 'one', 2nd: 'two'}", again),
    (dict[str, str], '{"2026-01-31": "a", 2026-02-01: "b"}', again),
    (dict[str, str], "{10:30: \"one\", 'b': 'two'}", again),
    (dict[str, str], "{don't: 'one', x/y: 'two'}", again),
    (dict[str, str], "{a: 'one', b: 'two'}", {"a": "one", "b": "two"}),
    # Text without quotes is not read: nobody can tell where it ends.
    (dict[str, str], "{name: a, sig: f(page: int, sort: string) -> X}", again),
    (dict[str, str], '{"name": "a", "sig": x = 1, y = 2}', again),
    (dict[str, str], '{"sig": hello, world: this is, note: x}', again),
    (dict[str, str], '{"kind": a # b\n}', again),
    (dict[str, str], '{"name": Ada}', again),
    (dict[str, str], '{"code": ```typescript main.ts\nlet x\n```}', again),
]


@pytest.mark.parametrize(("type_", "reply", "expected"), REPLIES)
@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
def test_a_reply_in_words_says_one_thing_or_is_asked_again(
    is_async: bool, type_: Any, reply: str, expected: Any
) -> None:
    found = read_reply(type_, reply, is_async=is_async)
    assert found == expected
    assert type(found) is type(expected)


# Slips in the arguments of a call: mended as those of a reply.
ARGUMENTS: list[tuple[str, Any]] = [
    ('{"text": "one\ntwo"}', "one\ntwo"),
    ("{'text': 'one'}", "one"),
    ('```json\n{"text": "one"}\n```', "one"),
    ('{"text": "one"}}', "one"),
    (json.dumps('{"text": "one"}'), "one"),
    ('{"Text": "one",}', "one"),
    ("null", again),
    ("", again),
    ('{"text": "one"} {"text": "two"}', again),
    ('{"text": "one"', again),
    ('{"text": one}', again),
    ('{"text": "one", "other": 1}', again),
    ('["one"]', again),
]


@pytest.mark.parametrize(("arguments", "expected"), ARGUMENTS)
@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
def test_slips_in_arguments_are_mended(is_async: bool, arguments: str, expected: Any) -> None:
    assert ask_tool(str, "", is_async=is_async, name="text", arguments=arguments) == expected
    if arguments.startswith(("{", "[", "`")) and expected is not again:
        reply = arguments.replace("text", "value").replace("Text", "Value")
        assert read_field(str, "", is_async=is_async, arguments=reply) == expected


def test_null_stands_for_no_arguments() -> None:
    assert ask_tool(int, "", arguments="null", default=7) == 7


def test_what_was_changed_in_arguments_is_told() -> None:
    def store(count: int) -> str:
        return str(count)

    request = tool_request("store", Count="7,000")
    with configure(provider=Scripted([request, "done"])):
        result = prompt("{store}", store=store)
    assert result.repairs == [
        "store: args: key `Count` as `count`",
        "store: args.count: read `7,000` as 7000",
    ]
    assert result.tool_calls[0].result == "7000"


def test_a_text_that_was_in_quotes_is_told() -> None:
    with configure(provider=Scripted(['"It was the best."'])):
        result = prompt("Quote the first sentence.")
    assert (result.value, result.repairs) == (
        "It was the best.",
        ["quotes around the text removed"],
    )


@pytest.mark.parametrize(
    ("reply", "text", "repairs"),
    [
        ("<think>Hm.</think>\n\nHello.", "Hello.", ["thinking removed"]),
        ("<think>a</think><think>b</think>Hello.", "Hello.", ["thinking removed"]),
        ("Hello <think>Hm.</think>", "Hello <think>Hm.</think>", []),
        ("It ends with </think>", "It ends with </think>", []),
    ],
)
def test_thinking_before_a_text_is_taken_off(reply: str, text: str, repairs: list[str]) -> None:
    with configure(provider=Scripted([reply])):
        result = prompt("?")
    assert (result.value, result.repairs) == (text, repairs)


def test_a_reply_that_is_only_thinking_is_asked_again() -> None:
    with configure(provider=Scripted(["<think>Hm.</think>", "Hello."])):
        result = prompt("?")
    assert result.value == "Hello."
    assert result.repairs == ["asked again: the reply is only thinking"]


# Records


def test_the_constructor_of_a_record_runs_once_for_a_reply() -> None:
    made: list[int] = []

    @dataclass
    class Counted:
        n: int

        def __post_init__(self) -> None:
            made.append(self.n)
            if self.n < 0:
                raise ValueError("n is negative")

    with configure(provider=Scripted(['{"n": -1}', "```json\n{N: '2',}\n```"])):
        result = prompt("?", returns=Counted)
    assert (result.value.n, made) == (2, [-1, 2])
    made.clear()
    replies = ['[{"n": 1}, {"n": -2}, {"n": "x"}]'] * 2
    with configure(provider=Scripted(replies)), pytest.raises(ContractError):
        prompt("?", returns=list[Counted])
    assert made == [1, -2, 1, -2]


# Tools


def test_a_tool_gives_a_member_of_an_enum_as_its_value() -> None:
    from pydantic import RootModel

    class Word(RootModel[str]):
        pass

    def size() -> Size:
        return Size.LARGE

    def word() -> Word:
        return Word("dog")

    calls = [tool_request("size"), tool_request("word")]
    with configure(provider=Scripted([calls, "done"])) as _:
        result = prompt("{size} {word}", size=size, word=word)
    assert [call.result for call in result.tool_calls] == ["L", "dog"]


def test_lists_without_items_in_their_type_are_lists_of_anything(tmp_path: Path) -> None:
    import typing

    for bare in ("List", "Sequence", "Iterable", "Collection", "Tuple"):
        type_ = getattr(typing, bare)
        found = ask_tool(type_, '[1, "a"]')
        assert list(found) == [1, "a"], bare
    for bare in ("Dict", "Mapping"):
        assert ask_tool(getattr(typing, bare), '{"a": 1}') == {"a": 1}
    assert ask_tool(typing.Iterable, '"abc"') is again
