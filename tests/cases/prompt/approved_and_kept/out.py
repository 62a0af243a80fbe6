# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import approve, overlap, prompt
from runtime_support.ops import print  # print keeps the order


def refund(order: str) -> str:
    return order


def look(order: str) -> str:
    return order


careful = approve(refund)
tools = [approve(refund), look]
desk = {"pay": approve(refund), "look": look}


def close(order: str) -> str:
    return careful(order)


def ask(order: str) -> str:
    own = approve(refund)
    return prompt("Close {order} with {own}.", order=order, own=own).value


def asks_and_pays(order: str) -> str:
    own = approve(refund)
    return prompt("Close {order} with {own}.", order=order, own=own).value + own(order)


print(
    prompt(
        "Use {careful}, {close} and {ask}.",
        careful=careful,
        close=close,
        ask=ask,
        pure=[ask],  # may be called at the same time
    ).value
)
print(
    prompt(
        "Use {asks_and_pays}.",
        asks_and_pays=asks_and_pays,
        tools=tools,
        pure=[asks_and_pays],  # may be called at the same time
    ).value
)
print(prompt("Use {0} and {close}.", desk["pay"], close=close).value)


def ask_one(one: Any) -> None:
    print(prompt("Use {one} and {close}.", one=one, close=close).value)


overlap(ask_one, tools).run()
