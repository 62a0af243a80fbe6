# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


# Here somebody else may see it, or another entry fails or needs what was.
def added(x: int) -> int:
    if x >= 3:
        raise AssertionError
    return x


state: dict[str, Any] = {"seen": [1], "count": 0}
held = state["seen"]
state.update({"seen": [*state["seen"], 2], "count": len(state["seen"])})
try:
    state.update({"seen": [*state["seen"], 2], "count": added(state["count"])})
except Exception:
    print(show(state))
for one in state["seen"]:
    state["seen"] = [*state["seen"], one]
print(show(held), show(state))
rest: dict[str, Any] = {**state, "count": 1}
state["seen"] = [*state["seen"], 3]
print(show(rest), show(state))
groups: dict[str, list[int]] = {}
for key in ["a", "b", "a"]:
    groups[key] = [*groups.get(key, []), added(len(groups))]
    held = groups[key]
print(show(held), show(groups))
