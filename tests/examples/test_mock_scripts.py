"""Small scripts whose own asserts hold when the mock answers: what its rules are good for."""

from __future__ import annotations

import pytest

from saftc.driver import compile_source
from saftc.source import Source

SCRIPTS = {
    "plain values": """
retries: int = 2
tags: [bool] = [false, true]
place: (string, int) = ("shelf", 4)
options: {retries: int, tone: string} = {retries: retries, tone: "calm"}
assert options.retries == 2 and options.tone == "calm"
assert place.1 == 4 and tags[1]
""",
    "a sum": """
a = 4
b = 7
total: int = $
    tell me, what's {a} + {b}
$
assert total == a + b
""",
    "words to capitals": """
words = ["red", "green", "blue"]
loud: [string] = $
    convert each word of {words} to uppercase
$
assert loud == ["RED", "GREEN", "BLUE"]
""",
    "squares": """
f squared(x):
    ret x * x

numbers = [3, 5, 8]
answer: [int] = $
    compute the square for each of {numbers}
$
assert answer == [squared(n) for n in numbers]
""",
    "an object from two lists": """
numbers = [4, 5, 6]
names = [(4, "oak"), (5, "elm"), (6, "ash")]
found: {number: int, tree: string} = $
    take the 2nd number of {numbers},
    and look up its tree in {names}
$
assert found.number == 5
assert found.tree == "elm"
""",
    "a tool for each item": """
words = ["red", "green", "blue"]

f mark(word):
    ret upper(word) + "!"

marked: [string] = $
    Call {mark} once for each word in {words}.
$
assert marked == ["RED!", "GREEN!", "BLUE!"]
""",
    "tuples to two parameters, objects from the tool": """
orders = [(11, "lamp"), (12, "desk")]

f entry(number, article):
    ret {number: number, text: upper(article) + " sent"}

entries: [{number: int, text: string}] = $
    For each tuple in {orders}, call {entry}(number, article).
$
assert entries[0].number == 11
assert entries[0].text == "LAMP sent"
assert entries[1].number == 12
assert entries[1].text == "DESK sent"
""",
    "even and odd": """
numbers = [6, 7, 8, 9]

f half(n):
    ret round(n / 2)

f negative(n):
    ret 0 - n

out: [int] = $
    For each n in {numbers}:
    - if n is even, call {half}(n)
    - if n is odd, call {negative}(n)

    Return a JSON array of integers only.
$
assert out == [3, -7, 4, -9]
""",
    "an alias, one tool after another": """
words = ["red", "green", "blue"]
ending = "ish"

f capitals(word: string) -> string:
    ret upper(word)

f with_ending(s: string) -> string:
    ret s + ending

f hidden(word: string) -> string:
    ret "no prompt names this: " + word

loud = capitals
result: [string] = $
    For each word in {words}:
    1) call {loud}(word)
    2) call {with_ending}(output)

    Return a JSON array of strings only.
$
assert result == ["REDish", "GREENish", "BLUEish"]
""",
    "a pair of names": """
guests = ["ann", "kim", "lou"]

f welcome(x, y):
    ret x + " waves at " + y

said: string = $
    it looks as if among {guests}, kim
    would like to meet ann
    can you {welcome} them
$
assert said == "kim waves at ann"
""",
    "the longest name": """
guests = ["ann", "kim", "mrs. featherstonehaugh"]
longest: string = $who has the longest name in {guests}$
assert longest == guests[2]
""",
    "builtins": """
loud = upper("saft")
assert loud == "SAFT" and type(loud) == "string"
assert len("four") == 4 and len([1, 2]) == 2 and len((1, "x")) == 2 and len({a: 1}) == 1
shown = print("fine")
assert shown == nil and type(nil) == "nil"
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_its_asserts_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = compile_source(Source.from_text("script.saft", SCRIPTS[name].lstrip()))
    assert result.text is not None, result.checked.diagnostics
    monkeypatch.setenv("SAFT_PROVIDER", "mock")
    exec(compile(result.text, "script.py", "exec"), {"__name__": "__main__"})
