# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import approve, prompt
from runtime_support.ops import parse, show
from runtime_support.programs import Plan, run


def refund(order: str) -> str:
    return order


def pay(order: str) -> str:
    return order


def look(order: str) -> str:
    return order


def help(tool: Any, mail: str) -> str:
    return prompt(
        "Help with {mail}; you have {tool}.",
        mail=mail,
        tool=approve(tool),
    ).value


print(help(refund, look("late")))
waiting = approve(pay)
kept: Plan = Plan.read(
    parse('{"refund": {"order": "A"}}'),
    {"refund": approve(refund), "pay": approve(pay), "look": look, "help": help},
)
print(show(run(kept)), waiting("B"))
