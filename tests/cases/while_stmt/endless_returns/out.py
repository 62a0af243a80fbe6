# Compiled by saftc from in.saft; edit that file instead.


def wait_for(n: int) -> int:
    while True:
        if n > 10:
            return n
        n = n * 2


print(wait_for(3))
