# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, Literal, TypedDict

from runtime_support import prompt, show

n = prompt('how many vowels are in "strawberry"?', returns=int).value
rate = prompt("the rate", returns=float).value
names = prompt("three names", returns=list[str]).value
pair = prompt("a pair", returns=tuple[int, str]).value
ok = prompt("is it so?", returns=bool).value
anything = prompt("anything", returns=Any).value
maybe: str | None = prompt("a name or nothing", returns=str | None).value
level: Literal["low", "high"] = prompt(
    "how severe?",
    returns=Literal["low", "high"],
).value
size: int | str = prompt("how big?", returns=int | str).value


class Row(TypedDict):
    id: int
    note: str | None


row = prompt("a row", returns=Row).value
nothing = prompt("nothing", returns=None).value
text = prompt("a text").value
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
