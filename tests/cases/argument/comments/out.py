# Compiled by saftc from in.saft; edit that file instead.


def add(a: int, b: int) -> int:
    return a + b


x = add(
    # the first
    1,
    b=2,  # the second
)
print(x)
