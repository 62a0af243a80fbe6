# Compiled by saftc from in.saft; edit that file instead.
from collections.abc import Callable

from runtime_support import approve, prompt

# No MCP client is offered these: they, or functions that they call, wait for approval.
__guarded__ = ["refund"]


def refund(order: str, amount: float) -> str:
    """Pays money back."""
    return f"{order}: {amount}"


def look(order: str) -> str:
    return order


mail = "Where is my pen?"
print(
    prompt(
        "Answer {mail}. You have {look} and {refund}; call {refund} once.",
        mail=mail,
        look=look,
        refund=approve(refund),
    ).value
)
print(prompt("Answer {mail} with {refund}.", mail=mail, refund=approve(refund)).value)


def ask(pay: Callable[[str, float], str]) -> str:
    return prompt("Answer {mail} with {pay}.", mail=mail, pay=approve(pay)).value


print(ask(refund))
