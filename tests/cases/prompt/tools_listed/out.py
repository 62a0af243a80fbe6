# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, ops, overlap, program, prompt, together


def find_orders(name: str) -> list[str]:
    """The orders of a customer."""
    return [name]


def refund(order: str) -> str:
    return order


def class_(text: str) -> int:
    return len(text)


look = find_orders
support = [find_orders, refund]
renamed = [look, class_]
fast = {"temperature": 0}

a, b, c, d, e, n = together(
    later(prompt, "Greet the customer.", tools=[find_orders, refund]),
    later(
        prompt,
        "Greet {look} her.",
        look=look,
        options={"model": "small"},
        tools=[("look", look), ("class", class_), ("len", ops.len)],
    ),
    later(prompt, "Greet her.", options=fast, tools=support),
    later(
        prompt,
        "Greet her.",
        options={"temperature": 1},
        tools=[*support, ("look", look)],
    ),
    later(prompt, "Greet her.", tools=[("look", renamed[0]), ("class", renamed[1])]),
    later(
        program,
        "How many orders has Ada?",
        returns=int,
        tools=[find_orders, ("class", class_)],
    ),
)


def ask_i(i: int) -> None:
    prompt(
        "Refund order {i}.",
        i=i,
        tools=[
            # the one that pays
            refund,
            find_orders,
        ],
    )


overlap(ask_i, range(2)).run()
print(a, b, c, d, e, n)
