# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, TypedDict

from runtime_support.ops import show


# What an object holds that nobody else does.
class State(TypedDict):
    seen: list[int]
    last: dict[str, int]
    count: int


state: State = {"seen": [], "last": {}, "count": 0}
for i in range(5):
    state = {**state, "seen": [*state["seen"], i], "count": state["count"] + 1}
    state = {**state, "count": state["count"] + 2, "last": {**state["last"], str(i): i}}
print(show(state))


def grouped(words: list[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for word in words:
        key = word[:1]
        groups[key] = [*groups.get(key, []), word]
    return groups


print(show(grouped(["ab", "b", "a"])))
counts: dict[str, Any] = {"x": [1], "y": []}
for key in ["x", "y"]:
    counts[key] = [*counts[key], len(key)]
print(show(counts))
