# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Failed
from runtime_support.ops import failure


def order(number: int) -> str:
    if number < 0:
        raise Failed(f"no order {number}")
    return f"order {number}"


try:
    print(order(-1))
except Exception as exception:
    error = failure(exception)
    print(f"{error.kind}: {error.message}")
