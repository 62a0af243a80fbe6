# Compiled by saftc from in.saft; edit that file instead.
from typing import Literal

from runtime_support import program, prompt
from runtime_support.ops import show


def lookup(word: str) -> str:
    return word.upper()


fast = {"temperature": 0}

answer = prompt("Look up a word with {lookup}.", lookup=lookup, rounds=1, options=fast)
letters = prompt(
    "Its letters?",
    returns=list[str],
    options=fast,
    after=answer,
    tools=answer.tools,
).value
first, last = prompt(
    "The first and the last of them?",
    fields={"first": str, "last": str | None},
    options=fast,
    after=answer,
    tools=answer.tools,
).fields
count = program(
    "Count them with {lookup}.",
    lookup=lookup,
    returns=int,
    after=first,
    tools=first.tools,
).value
if prompt("Is it long?", returns=bool, after=first, tools=first.tools).value:
    print(show(letters), count, first.value, show(last.value))
text: Literal["a", "b"] = prompt(
    """
    Which of both
    is it?
    """,
    returns=Literal["a", "b"],
    after=answer,
    tools=answer.tools,
).value
print(text, prompt("inner", after=prompt("outer")).value)
