# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import overlap, prompt
from runtime_support.ops import show


def triage(mail: str, options: Any = ...) -> str:
    if options is ...:
        options = {}
    return prompt("Triage {mail}", mail=mail, options=options).value


def count(
    words: list[str] | None = None, seen: dict[str, int] | None = None
) -> dict[str, int]:
    if words is None:
        words = []
    if seen is None:
        seen = {"all": 1}
    for word in words:
        seen = {**seen, word: seen.get(word, 0) + 1}
    return seen


def total(prices: list[float] | None = None, names: list[str] | None = None) -> float:
    """Adds them."""
    if prices is None:
        prices = [1.0, 2.0]
    if names is None:
        names = ["a"]
    return float(sum(prices) + len(names))


def ask(mails: list[str] | None = None) -> list[str]:
    if mails is None:
        mails = ["a", "b"]

    def ask_mail(mail: str) -> str:
        return prompt("Sort {mail}, of {mails}.", mail=mail, mails=mails).value

    return list(overlap(ask_mail, mails))


# Of these, `nil` is a value of its own, or the value is that of the definition.
def others(names: list[str] | None = [], at_first: list[str] = [triage("x")]) -> int:
    return len(at_first) + (0 if names is None else len(names))


# As a tool or as a value, it must refuse `nil`.
def offered(names: list[str] = []) -> int:
    return len(names)


print(triage("x"), show(count()), total(), total(names=["b"]), show(ask()), others())
print(prompt("Use {offered}.", offered=offered).value)
