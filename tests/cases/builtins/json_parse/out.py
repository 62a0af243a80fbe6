# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import check, ops
from runtime_support.ops import parse, show, to_json

row = {"id": 1}
data = parse('{"a": [1, 2]}')


class Row(TypedDict):
    id: int


rows: list[Row] = check(parse("[]"), list[Row])
text = to_json(row)
print(
    text,
    to_json(data),
    to_json("é"),
    show(ops.member(parse(text), "id")),
    show(ops.index(ops.member(data, "a"), 0)),
    show(rows),
)
print(show([ops.json, ops.parse]))
