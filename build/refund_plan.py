# Compiled by saftc from refund_plan.saft; edit that file instead.

# A plan held for approval: the model's program is checked and kept, people see what it would do,
# and only then is it run. Nothing happens before.

from dataclasses import dataclass

from runtime_support import check, ops, program
from runtime_support.ops import show
from runtime_support.programs import Plan, run


@dataclass(frozen=True)
class Order:
    customer: str
    paid: float


orders = {"A17": Order("Ada", 39.5), "B20": Order("Grace", 210.0)}
limit = 100.0


def refund(order: str) -> float:
    """Pays an order back, and gives the amount."""
    print(f"  refunded {order}")
    return orders[order].paid


def notify(order: str, text: str) -> None:
    """Writes to the customer of an order."""
    print(f"  told {orders[order].customer}: {text}")


def settle(complaint: str) -> None:
    plan = program(
        "{complaint:raw} Pay it back with {refund}, and tell the customer with {notify}.",
        complaint=complaint,
        refund=refund,
        notify=notify,
        returns=Plan,
    ).value
    print("the model would run", show(plan))

    asked: list[str] = [
        check(ops.member(call["args"], "order"), str)
        for call in plan.calls
        if call["tool"] == "refund"
    ]
    due = sum(orders[order].paid for order in asked)
    if due > limit:
        print(f"  held, because {due} needs a signature")
    else:
        run(plan)


settle('Order "A17" came broken.')
settle('Order "B20" came too late.')
