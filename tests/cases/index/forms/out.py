# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

xs = [1, 2, 3]
pair = (1, "a")
text = "abc"
row: dict[str, Any] = {"id": 1, "name": "Ada"}
print(xs[0], xs[-1], pair[1], text[0], row["id"], row["name"])
i = 1
print(xs[i], xs[i - 1], text[i + 1])
