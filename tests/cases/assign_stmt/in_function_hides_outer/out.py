# Compiled by saftc from in.saft; edit that file instead.

rate = 2


def before(amount: int) -> int:
    old = rate
    rate_ = 3
    return old * amount + rate_


def maybe(flag: bool) -> int:
    rate_ = rate
    if flag:
        rate_ = 10
    return rate_


print(before(5), maybe(True), maybe(False), rate)
