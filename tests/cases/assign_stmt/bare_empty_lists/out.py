# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


# A function's own empty list or object stays bare where its items tell its type.
def told(words: list[str]) -> tuple[list[int], dict[str, int]]:
    lengths: list[int] = []
    counts: dict[str, int] = {}
    for word in words:
        lengths.append(len(word))
        counts[word] = len(word)
    return (lengths, counts)


# Here they do not: nothing is added, several are added at once, or items of several types.
def untold(
    words: list[str],
) -> tuple[
    list[Any],
    list[str],
    list[int | str],
    list[list[Any]],
    list[str],
    list[str],
    list[dict[str, str]],
]:
    nothing: list[Any] = []
    several: list[str] = []
    mixed: list[int | str] = []
    nested: list[list[Any]] = []
    copied: list[str] = []
    kept: list[str] = copied
    rows: list[dict[str, str]] = []
    for word in words:
        several.extend(words)
        mixed.append(len(word))
        mixed.append(word)
        nested.append([])
        kept = copied
        copied = [*copied, word]
        rows.append({"word": word})
    return (nothing, several, mixed, nested, kept, copied, rows)


# What a module holds can be imported.
found: list[str] = []
for word in ["a", "bc"]:
    found.append(word)
print(show(told(found)), show(untold(found)))
