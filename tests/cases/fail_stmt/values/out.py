# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Failed, check, prompt


def check_age(age: int | float, name: str, why: Any) -> int | float:
    if age < 0:
        raise Failed("an age is no " + str(age))
    if name == "":
        raise Failed(prompt("Say that a name is missing.").value)
    if name == "any":
        raise Failed(check(why, str))
    if name == "call":
        raise Failed(name)
    if age > 200:
        raise Failed("too old")
    return age


fail = 3
print(check_age(1, "a", fail))
raise Failed("\nOf several\nlines\n")
