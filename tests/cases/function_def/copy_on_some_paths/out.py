# Compiled by saftc from in.saft; edit that file instead.
from contextlib import suppress


def go(is_short: bool) -> None:
    with suppress(NameError):
        limit_ = limit
    if is_short:
        limit_ = 5
    print(limit_)


go(True)
limit = 3
go(False)
print(limit)
