# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

flag = True


def name_of(x: int) -> str:
    return str(x)


x = prompt(
    "{0} {1} {2:raw} {3} {4} {id} {5}",
    "a" if flag else "b",
    name_of(1),
    name_of(2),
    -1,
    not flag,
    [x for x in [1]],
    id={"id": 1}["id"],
).value
