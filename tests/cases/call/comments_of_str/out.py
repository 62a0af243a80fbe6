# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show
from runtime_support.programs import option


def go(a: int) -> str:
    return "x"


print(
    # outer
    go(
        1,  # inner
    ),
)
print(show(option("a", class_=1)))
