# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show

# An object whose fields change their types keeps its fields.
state: dict[str, Any] = {"count": 0, "seen": [], "last": None}
for word in "to be or not to be".split():
    state.update(
        {"count": state["count"] + 1, "seen": [*state["seen"], word], "last": word}
    )
print(show(state), state["count"] + 1, state["seen"][0].upper())

row: dict[str, Any] = {"id": 1}
if state["count"] > 3:
    row = {"id": "one"}
wide: dict[str, Any] = {**row, "note": "x"}
print(wide["note"].upper(), wide["id"])

# With other fields it is a map of all their values.
more: dict[str, int] = {"a": 1}
if state["count"] > 3:
    more = {"b": 2}
both = {**more, "c": 3}
print(show(both))
