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


def ask_word(word: str) -> tuple[str, str]:
    return word, translate(word + "!")


print(show(list(overlap(ask_word, ["a", "b"]))))


def ask_one(one: Item) -> int:
    return len(translate(one.headline.upper()))


lengths: list[int] = list(overlap(ask_one, found))


def ask_word_2(word: str) -> str:
    return prompt("{word}", word=word).value


print(
    show(lengths),
    len(list(overlap(ask_word_2, [word for word in ["a"] if word != "b"]))),
)
for text in list(overlap(translate, ["a", "b"])):
    print(text)
