# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import show


def compare(flag: bool, n: int, maybe: bool | None, either: bool | int) -> None:
    print(
        show(flag is True),
        show(flag == maybe),
        show(ops.eq(n, either)),
        show(ops.eq(either, 1)),
        show(either is True),
        show(maybe is True),
        show(maybe is not False),
    )
    if maybe is True:
        print("yes")


compare(True, 1, None, 1)
