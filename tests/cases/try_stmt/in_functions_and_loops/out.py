# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops, overlap, prompt
from runtime_support.ops import failure, print, show  # print keeps the order


def first(xs: Any, otherwise: str) -> Any:
    try:
        return ops.index(xs, 0)
    except Exception:
        return otherwise


def number(text: str) -> int | None:
    try:
        return int(text)
    except Exception:
        pass
    return None


n = 0
while True:
    try:
        n += 1
        if n < 3:
            continue
        if n <= 3:
            raise AssertionError("too few")
        break
    except Exception as error:
        print(failure(error).message)
        if n > 5:
            break


def ask_word(word: str) -> None:
    try:
        print(show(number(word)), show(first([], word)))
        (a,) = prompt("A number for {word}.", word=word, fields={"a": int}).value
        print(a)
    except Exception:
        return


overlap(ask_word, ["1", "x"]).run()
