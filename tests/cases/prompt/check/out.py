# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import Failed, overlap, prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Flight:
    number: str
    price: int


def book(request: str, most: int) -> Flight:
    def fits(flight: Flight) -> None:
        if flight.price > most:
            raise AssertionError(
                f"the flight costs {flight.price}, and at most {most} are allowed"
            )
        if flight.number[0:2] not in request:
            raise Failed("it is of another airline")

    return prompt(
        "A flight for {request}",
        request=request,
        returns=Flight,
        options={"check": fits, "max_repairs": 2},
    ).value


def short(text: str) -> None:
    if len(text) >= 20:
        raise AssertionError("write less")


careful = {"temperature": 0, "check": short}
print(show(book("LH to Oslo", 300)), prompt("A title", options=careful).value)


def ask_word(word: str) -> str:
    return prompt("A title for {word}", word=word, options={"check": short}).value


print(show(list(overlap(ask_word, ["a", "b"]))))
