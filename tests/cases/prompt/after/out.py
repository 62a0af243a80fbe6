# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, prompt
from runtime_support.ops import show


def shortened(earlier: Result[Any], words: int) -> str:
    return prompt("Now in {words} words.", words=words, after=earlier).value


def follow(earlier: Result[Any], question: str) -> str:
    return prompt(
        "{question}",
        question=question,
        options={"temperature": 0},
        after=earlier,
    ).value


# two questions, one conversation
answer = prompt("What do these have in common: {0}?", ["a", "b"])
print(answer.value)
shorter = prompt("Now in five words.", after=answer)
print(shorter.value)
print(shortened(answer, 3), shortened(earlier=shorter, words=2), follow(answer, "why?"))

# the branches of a name that is bound again
for word in ["one", "two"]:
    answer = prompt("And {word}?", word=word, after=answer)
print(show(answer.usage))
