# Compiled by saftc from in.saft; edit that file instead.


def add(a: int, b: int) -> int:
    return a + b


print(
    add(
        1,
        2,
    )
)
print(
    add(1, 2),  # first
    add(3, 4),
)
