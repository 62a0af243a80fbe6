# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import approve, ops
from runtime_support.ops import parse, show
from runtime_support.programs import Plan


def refund(order: str) -> str:
    return order


def pay(order: str) -> str:
    return order


def look(order: str) -> str:
    return order


def careful(tool: Any) -> Any:
    return approve(tool)


print(show(ops.call(careful(refund), "A")), look("late"))
waiting = approve(pay)
kept: Plan = Plan.read(
    parse('{"refund": {"order": "A"}}'),
    {"refund": approve(refund), "pay": approve(pay), "look": look, "careful": careful},
)
print(show(kept), waiting("B"))
