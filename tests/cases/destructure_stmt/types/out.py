# Compiled by saftc from in.saft; edit that file instead.
from typing import Literal, TypedDict

from runtime_support import prompt
from runtime_support.ops import show


class Row(TypedDict):
    id: int


title, tags, level, note, row, pair = prompt(
    "read this",
    fields={
        "title": str,
        "tags": list[str],
        "level": Literal["low", "high"],
        "note": str | None,
        "row": Row,
        "pair": tuple[int, str],
    },
    options={"temperature": 0},
).value
print(title, show(tags), level, show(note), row["id"], pair[1])
