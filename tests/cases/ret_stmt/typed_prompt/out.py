# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def count_vowels(word: str) -> int:
    return prompt("how many vowels are in {word}?", word=word, returns=int).value


def summary(text: str) -> str:
    return prompt("summarize {text}", text=text).value


print(count_vowels("strawberry"), summary("long text"))
