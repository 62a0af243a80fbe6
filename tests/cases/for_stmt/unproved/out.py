# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def show_rows(rows: Any) -> None:
    for row in ops.each(rows):
        print(show(ops.member(row, "price")))
    for key, value in ops.each_of(rows, 2):
        print(show(key), show(value))


show_rows([])
