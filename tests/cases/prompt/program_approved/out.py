# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import approve, later, program, prompt, together
from runtime_support.ops import parse, show
from runtime_support.programs import Plan, run


def refund(order: str) -> str:
    return prompt("A line about {order}", order=order).value


def look(order: str) -> str:
    return prompt("Another line about {order}", order=order).value


orders = ["A-1", "A-2"]
done, plan = together(
    later(
        program,
        "Refund what is late among {orders}, with {look} and {refund}.",
        orders=orders,
        look=look,
        refund=approve(refund),
        pure=[look],
        returns=list[str],
    ),
    later(
        program,
        "The same of {orders}, with {look} and {refund}.",
        orders=orders,
        look=look,
        refund=approve(refund),
        pure=[look],
        returns=Plan,
    ),
)
kept: Plan = Plan.read(
    parse(show(plan)), {"refund": approve(refund), "look": look}, pure=[look]
)
print(show(done), show(run(kept)))
