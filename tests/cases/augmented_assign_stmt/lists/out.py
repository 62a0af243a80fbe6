# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

# what holds the list before keeps what it has
first = [1]
second = first
second = [*second, 2]

words: list[str] = []
for word in "a b".split():
    words.extend([word, word])


def with_zero(numbers: list[int]) -> list[int]:
    numbers = [*numbers, 0]
    return numbers


print(show(first), show(second), show(words), show(with_zero(first)), show(first))
