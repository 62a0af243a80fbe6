# Compiled by saftc from in.saft; edit that file instead.
from decimal import Decimal

from runtime_support.ops import show, to_decimal

words = ["a", "bb"]
print(
    sum(len(word) for word in words),
)
total = sum(
    # of all
    (len(word) for word in words),
    # the end
)
print(
    total,
    show(
        any(
            (word == "a" for word in words),  # one
        )
    ),
)
print(", ".join(word.upper() for word in words))
print(sum((to_decimal(word) for word in ["1", "2"]), Decimal(0)))
