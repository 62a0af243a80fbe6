# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, Literal, TypedDict

from runtime_support import later, prompt, together
from runtime_support.ops import show

n, rate, names, pair, ok, anything = together(
    later(prompt, 'how many vowels are in "strawberry"?', returns=int),
    later(prompt, "the rate", returns=float),
    later(prompt, "three names", returns=list[str]),
    later(prompt, "a pair", returns=tuple[int, str]),
    later(prompt, "is it so?", returns=bool),
    later(prompt, "anything", returns=Any),
)
maybe: str | None = prompt("a name or nothing", returns=str | None).value
level: Literal["low", "high"] = prompt(
    "how severe?",
    returns=Literal["low", "high"],
).value
size: int | str = prompt("how big?", returns=int | str).value


class Row(TypedDict):
    id: int
    note: str | None


row, nothing, text = together(
    later(prompt, "a row", returns=Row),
    later(prompt, "nothing", returns=None),
    later(prompt, "a text"),
)
print(
    n + 1,
    rate,
    names[0],
    pair[1],
    show(ok),
    show(anything),
    show(maybe),
    level,
    size,
    row["id"],
    show(nothing),
    text,
)
