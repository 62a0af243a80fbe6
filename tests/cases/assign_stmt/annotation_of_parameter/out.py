# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check, prompt
from runtime_support.ops import show


def scaled(x: float, by: int | str, tags: list[str], note: str | None) -> str:
    x = 2.0
    x *= 3
    by = 4
    tags = [*tags, "more"]
    tags.append(str(by))
    if note is None:
        note = "none"
    note = None
    return f"{x} {by} {show(tags)} {show(note)}"


def fitted(count: int, found: Any, values: dict[str, float]) -> int:
    count = check(found, int)
    values = {**values, "n": 1.0}
    for count in [1, 2]:
        print(count)

    def inner(count: str) -> str:
        count = "other"
        return count

    print(inner("x"), show(values))
    return count


def asked(question: str, count: int) -> int:
    question = prompt("Say {question} shorter.", question=question).value
    count = prompt(
        "How many words has {question}?",
        question=question,
        returns=int,
    ).value
    return count


print(scaled(1.0, "a", [], None), fitted(1, 2, {}))
print(asked("a b", 1))
