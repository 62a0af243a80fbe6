# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def longer(words: list[str]) -> list[str]:
    # The caller holds `words`: the first one is a copy.
    words = [*words, "a"]
    words.append("b")
    return words


def by_length(words: list[str]) -> dict[str, int]:
    groups: dict[str, int] = {}
    for word in words:
        size = str(len(word))
        groups[size] = groups.get(size, 0) + 1
    return groups


def counter() -> tuple[list[int], list[int], list[int]]:
    seen: list[int] = []

    def inner(limit: int) -> list[int]:
        own: list[int] = []
        for i in range(limit):
            own.append(i)
        return own

    # What an inner function reads is copied.
    def look() -> list[int]:
        return seen

    for i in range(2):
        seen = [*seen, i]
    return (seen, look(), inner(3))


print(show(longer([])), show(by_length(["a", "bc"])), show(counter()))
