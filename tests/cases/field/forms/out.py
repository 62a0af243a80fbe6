# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show

a = 1
row: dict[str, Any] = {
    "a": a,
    "b c": [a],
    "nested": {"deep": (a,)},
    "call": str(a),
    "choice": 1 if a > 0 else 2,
}
print(row["nested"]["deep"][0], show(row["b c"]), row["choice"])
