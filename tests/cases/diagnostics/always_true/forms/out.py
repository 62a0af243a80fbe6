# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops


def go(name: str, xs: list[int], maybe: str | None) -> bool:
    if ops.truthy(name):
        print(1)
    if ops.truthy(xs) and maybe is not None:
        print(2)
    while ops.truthy(1):
        break
    return not ops.truthy(name)


if not ops.truthy(go):
    raise AssertionError
