# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import program
from runtime_support.ops import show
from runtime_support.programs import Plan, ambiguous, option, run


def add(a: float, b: float) -> float:
    return a + b


plan = program("add 1 and 2 with {add}", add=add, returns=Plan).value
print(show(plan), len(plan.calls))
print(show(run(plan)))


def pick(title: str) -> str:
    if title == "Emma":
        raise ambiguous(
            "2 books are called Emma",
            [
                option("the 1815 edition", year=1815),
                option("the 1996 edition", year=1996),
            ],
        )
    return title


print(pick("x"))
