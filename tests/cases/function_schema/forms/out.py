# Compiled by saftc from in.saft; edit that file instead.
from collections.abc import Callable
from dataclasses import dataclass

from runtime_support import prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Button:
    label: str
    press: "Emit"


Emit = Callable[[str], None]


def stream_of(question: str, emit: Emit) -> str:
    whole = ""
    for piece in prompt("{question}", question=question, stream=True).pieces():
        emit(piece)
        whole += piece
    return whole


def pick(numbers: list[int], is_good: Callable[[int, int], bool]) -> list[int]:
    return [one for one in numbers if is_good(one, 2)]


def show_it(text: str) -> None:
    print(text)


def larger(a: int, b: int) -> bool:
    return a > b


def twice(change: Callable[[int], int], start: int) -> int:
    return change(change(start)) + 1


def later(f_: Emit | None) -> Callable[[], int]:
    def one() -> int:
        return 1

    if f_ is not None:
        f_("x")
    return one


def add(n: int) -> int:
    return n + 1


print(show(pick([1, 2, 3], larger)), twice(add, 1), later(None)(), later(show_it)())
b = Button("ok", show_it)
b.press("pressed")
handlers: list[Emit] = [show_it]
for one in handlers:
    one("hi")
stream_of("hello", show_it)
