# Compiled by saftc from colours.saft; edit that file instead.

# Three colours with their counts: a field may have any type, what can be calculated is checked.

from typing import TypedDict

from runtime_support import prompt

text = "On the table lay 3 red marbles, 5 blue ones and 2 green ones."


class Marble(TypedDict):
    colour: str
    count: int


marbles, total = prompt(
    "Which three colours are in {text}, and how many marbles has each? Give their total, too.",
    text=text,
    fields={"marbles": list[Marble], "total": int},
).value

for marble in marbles:
    print(f"{marble['colour']}: {marble['count']}")

added = sum(marble["count"] for marble in marbles)
print(f"together {added}" + ("" if added == total else f", but the model says {total}"))
