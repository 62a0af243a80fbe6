# Compiled by saftc from in.saft; edit that file instead.


def total(items: list[int]) -> int:
    sum = 0
    for item in items:
        sum = sum + item
    return sum


len = 3
print(total([1, 2]), len)
