# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def none() -> None:
    return


def one() -> int:
    return 1


def pair() -> tuple[int, str]:
    return (1, "one")


def early(x: int) -> None:
    if x > 1:
        return
    print("small")


def object() -> dict[str, int]:
    return {"id": 1}


print(show(none()), one(), show(pair()), object()["id"])
early(1)
