# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

row: dict[str, int] = {}
for n in [1, 2]:
    row["id"] = n
print(show(row))


def collected(words: list[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if word not in found:
            found.append(word)
    return found


print(show(collected(["a", "b", "a"])))
