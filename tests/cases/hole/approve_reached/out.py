# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import approve, prompt
from runtime_support.ops import show

import desk

# No MCP client is offered these: they, or functions that they call, wait for approval.
__guarded__ = ["refund", "settle", "close"]


def refund(order: str) -> str:
    """Pays money back."""
    return f"{order} is paid"


def settle(orders: list[str]) -> list[str]:
    """Settles orders."""
    return [pay(one) for one in orders]


def pay(order: str) -> str:
    return refund(order)


def answer(mail: str) -> str:
    """Answers a mail: the model's calls wait."""
    return prompt(
        "Answer {mail} with {refund} and {0}.",
        approve(desk.close),
        mail=mail,
        refund=approve(refund),
    ).value


def close(order: str) -> str:
    """Closes an order."""
    return desk.close(order)


def count(text: str) -> int:
    """Counts words."""
    return len(text.split())


print(answer("Where is my pen?"), show(settle(["A-1"])), close("A-2"), count("a b"))
