# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import kind, to_json


def all_of_them() -> list[Any]:
    return [ops.upper, ops.lower, ops.len, ops.range]


print(to_json(1), kind(ops.upper), kind([ops.upper, ops.len, all_of_them]))
ops.call(all_of_them()[0], "x")
