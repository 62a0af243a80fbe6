# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def tally(words: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


counts = tally(["a", "b", "a"])
key = "two words"
print(show(counts), show({"x" + key: 2, key: 3, "plain": 4}))
for word, count in counts.items():
    print(word, count)
print(
    counts["a"],
    counts["b"],
    len(counts),
    show("c" in counts),
    show(list(counts)),
    show(list(counts.values())),
)
groups: dict[str, list[str]] = {}
for name in ["anna", "otto", "alma"]:
    groups.update({name[0]: [*groups.get(name[0], []), name]})
print(
    show(groups), show([name for name, members in groups.items() if len(members) > 1])
)
