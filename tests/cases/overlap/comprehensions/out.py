# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import overlap, prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Item:
    headline: str
    urgent: bool


def translate(text: str) -> str:
    return prompt("Translate {text}.", text=text).value


def items(text: str) -> list[Item]:
    return prompt("The items of {text}.", text=text, returns=list[Item]).value


found = items("a paper")
print(show(list(overlap(translate, [item.headline for item in found if item.urgent]))))
print(show(list(overlap(translate, ["a", "b"]))))
print(show(list(overlap(lambda word: (word, translate(word + "!")), ["a", "b"]))))
lengths: list[int] = list(
    overlap(lambda one: len(translate(one.headline.upper())), found)
)
print(
    show(lengths),
    len(
        list(
            overlap(
                lambda word: prompt("{word}", word=word).value,
                [word for word in ["a"] if word != "b"],
            )
        )
    ),
)
for text in list(overlap(translate, ["a", "b"])):
    print(text)
