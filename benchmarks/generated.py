"""Scripts of any length, always the same, from what scripts are made of.

    script(1000)            the text of a script of 1,000 lines
    script(1000, LOOPS)     one of nothing but loops that ask, and stand below each other

They have no errors and no warnings.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

_BLOCKS = (
    """
/// One order of part {n}.
type Order{n}(
    id: int,
    customer: string,
    items: [string] = [],
    note: string?,  /// as the customer wrote it
)

type Status{n} = "new" | "paid" | "sent"
""",
    """
// Totals are in cents, so that nothing is rounded.
f total_{n}(prices: [int], discount: int = 0) -> int:
    sum_so_far = 0
    for position, price in enumerate(prices):
        if position == 0 and discount > 0:
            sum_so_far = sum_so_far + price - discount
        elif price > 100:
            sum_so_far = sum_so_far + price * 9 / 10
        else:
            sum_so_far = sum_so_far + price
    ret round(float(sum_so_far))
""",
    """
f initials_{n}(names: [string]) -> [string]:
    found = [upper(name[:1]) for name in names if len(name) > 0]
    if found == []:
        ret ["?"]
    ret sorted(found)

words_{n} = split(lower("The Quick Brown Fox of part {n}"))
print(join(words_{n}, " "), initials_{n}(words_{n}))
""",
    """
/// The customer's orders, newest first.
f orders_{n}(customer: string, status: Status{n} = "new") -> [Order{n}]:
    ret [Order{n}({n}, customer, [status], note: nil), Order{n}({n} + 1, customer)]

f describe_{n}(order: Order{n}) -> string:
    if order.note != nil:
        ret order.customer + ": " + order.note
    ret order.customer + " ordered " + join(order.items, ", ")
""",
    """
f summary_{n}(customer: string) -> string:
    orders = orders_{n}(customer)
    texts = [describe_{n}(order) for order in orders]
    ret $
        Summarise the orders of {{customer}} in one sentence, for a colleague who knows them.
        The orders: {{texts}}. Ask {{orders_{n}}} for others.
    $
""",
    """
report_{n}: {{title: string, lines: [{{id: int, text: string}}], total: float}} = $
    Write a report on {{words_{n}}} with a title and a line for each word.
$
for line in report_{n}.lines:
    if line.id % 2 == 0:
        print(line.text)
""",
    """
f shape_{n}(value: int | string | [int] | nil) -> string:
    if value == nil:
        ret "nothing"
    if type(value) == "int":
        ret "number " + str(value + {n})
    if type(value) == "string":
        ret "text " + upper(value)
    ret "list of " + str(len(value))

settings_{n} = {{name: "part {n}", size: {n}, nested: {{deep: [1, 2, {{x: true}}]}}}}
print(shape_{n}({n}), shape_{n}("a"), settings_{n}.nested.deep)
""",
    """
f reads_{n}(text: string) -> any:
    data = parse(text)
    rest = data["rows"]
    seen = 0
    while seen < 3:
        seen = seen + 1
        if rest[seen].price > 10 and not contains(rest[seen].tags, "old"):
            break
    ret {{seen: seen, first: rest[0], more: [row.id for row in rest]}}
""",
)


LOOPS = (
    """
mails_{n} = ["a {n}", "b {n}"]
sums_{n}: [string] = []
for mail in mails_{n}:
    summary_{n} = $ Sum up {{mail}} in {n} words. $
    if len(summary_{n}) > 3:
        print(mail, summary_{n})
    sums_{n} = [...sums_{n}, summary_{n}]
print(join(sums_{n}, ", "))
""",
)


def script(lines: int, blocks: Sequence[str] = _BLOCKS) -> str:
    """A script of so many lines."""
    text: list[str] = []
    for number in count(1):
        for block in blocks:
            text += block.format(n=number).rstrip("\n").split("\n")
            if len(text) >= lines:
                return "\n".join(_whole(text, lines)) + "\n"
    raise AssertionError


def _whole(text: list[str], lines: int) -> list[str]:
    """The blocks that fit, and comments for what is missing to the number of lines."""
    while len(text) > lines:
        begins = max(at for at, line in enumerate(text) if not line and at < len(text) - 1)
        # A block begins with a blank line that follows a whole statement of the top level.
        text = text[:begins]
    return [*text, *(f"// end {number}" for number in range(lines - len(text)))]
