# Compiled by saftc from in.saft; edit that file instead.

# a script's own names come before the builtins of the same name

from runtime_support.ops import show


def any(xs: list[int]) -> bool:
    return len(xs) > 0


def rows(n: int) -> list[int]:
    return list(range(n))


input = "text"
all = [any([]), any([1])]
div = 3
print(show(rows(2)), input, show(all), div)
for rows_ in rows(2):
    append_text = rows_
    print(append_text)
