# Compiled by saftc from in.saft; edit that file instead.


# A loop without end has nothing below it; one with a `break` has.
def first_over(limit: int) -> int:
    n = 1
    while True:
        n = n * 2
        if n > limit:
            return n
    print("never here")


def until_break(limit: int) -> int:
    n = 1
    while True:
        n = n * 2
        if n > limit:
            break
    return n


print(first_over(9), until_break(9))
