# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show, to_json

# Nobody else holds what these names hold, so it is changed in place.
words: list[str] = []
words.append("a")
words.append("b")
words.append("c")
words.extend(["d", *words])
words.extend(reversed(words[1:]))
words.extend("e f".split(" "))

counts: dict[str, int] = {}
for word in words:
    counts[word] = counts.get(word, 0) + 1
counts[f"{len(words)} in all"] = len(words)
more = {"z": 26}
counts.update(more)
counts.update({"y": 25, "x".upper(): 24})
print(show(words), show(counts))

# What is looked at is not kept.
print(
    f"{show(words)} {len(counts):>3}",
    max(words, key=len),
    show(sorted(words)),
    to_json(counts),
)
words.append("g")
print(show(words))
