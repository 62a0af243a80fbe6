# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, overlap, prompt
from runtime_support.ops import show

kept: list[Result[Any]] = []
for word in ["one", "two"]:
    answer = prompt("{word}?", word=word)
    kept.append(answer)


def ask_one(one: Result[Any]) -> str:
    return prompt("And then?", after=one).value


print(show(list(overlap(ask_one, kept))), prompt("Why?", after=kept[0]).value)


def going_on(last: Result[Any] | None) -> str:
    if last is not None:
        return prompt("Go on.", after=last).value
    return prompt("Begin.").value


print(going_on(None), going_on(kept[-1]), going_on(answer))


def ask(question: str) -> Result[str]:
    return prompt("{question}", question=question)


print(prompt("And?", after=ask("who?")).value)
after = ask("when?")
with_ = prompt("{after_}", after_=after.value, options={"seed": 1}, after=after).value
print(
    with_ + "!",
    prompt("a", after=after).value + "!",
    show(not prompt("b", returns=bool, after=after).value),
)
