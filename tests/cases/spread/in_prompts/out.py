# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt
from runtime_support.ops import show

base = {"temperature": 0, "max_tokens": 20}
notes = ["one", "two"]
title: str | None = prompt(
    "a title for {0}",
    [*notes, "three"],
    returns=str | None,
    options={**base, "seed": 1},
).value
print(show(title))
answer = prompt(
    "how often is each word in {0}?",
    " ".join(notes),
    returns=dict[str, int],
).value
print(show(answer), answer["one"], answer.get("three", 0))
