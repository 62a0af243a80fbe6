# Compiled by saftc from in.saft; edit that file instead.
import math  # noqa: F401
from typing import Any

from runtime_support.ops import parse, show
from runtime_support.programs import Plan, run

from sib import add, located, unused  # noqa: F401
from sib import sub as minus


def go(text: str) -> Any:
    plan: Plan = Plan.read(
        parse(text), {"add": add, "minus": minus}, conversions=[located]
    )
    return run(plan)


print(show(go('{"add": {"a": 2, "b": 3}}')))
