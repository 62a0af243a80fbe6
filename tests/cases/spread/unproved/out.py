# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import check, ops
from runtime_support.ops import parse, show


def both(a: Any, b: tuple[int]) -> list[Any]:
    return [*ops.spread(a), *b]


def merged(a: Any, b: Any, key: str) -> Any:
    return ops.changed(a, {key: 1, **ops.fields(ops.member(b, "more")), "last": True})


data: Any = parse('{"xs": [1], "more": {"y": 2}}')
print(show(both(ops.member(data, "xs"), (3,))))
print(show(merged(data, data, "k")))
names: list[str] = check([*ops.spread(ops.member(data, "xs"))], list[str])
