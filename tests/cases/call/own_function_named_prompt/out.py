# Compiled by saftc from in.saft; edit that file instead.


def prompt(a: int, b: int = 2) -> int:
    return a + b


xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx = prompt(
    a=1000000
)
x = prompt(
    1,  # one
    2,
)
print(x)
