# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import approve, ops, prompt
from runtime_support.ops import kind


def refund(order: str) -> str:
    return order


careful = approve(refund)
print(careful("A-1"), kind(careful))
print(
    prompt(
        "Pay it back with {careful}, and write it with {upper}.",
        careful=careful,
        upper=approve(ops.upper),
    ).value
)
