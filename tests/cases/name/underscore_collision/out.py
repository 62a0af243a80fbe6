# Compiled by saftc from in.saft; edit that file instead.

class__ = 1
class_ = 2
rate = 1


def go(flag: bool) -> int:
    rate__ = rate
    rate_ = 5
    if flag:
        rate__ = 2
    return rate__ + rate_


print(class__, class_, go(True))
