# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import prompt


class Row(TypedDict):
    id: int
    text: str


row = prompt("a row", returns=Row).value
print(row["id"], row["text"])
