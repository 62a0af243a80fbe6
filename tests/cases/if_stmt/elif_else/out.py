# Compiled by saftc from in.saft; edit that file instead.


def sign(n: int) -> str:
    if n > 0:
        return "positive"
    elif n < 0:
        return "negative"
    elif n == 0:
        return "zero"
    else:
        return "never"


print(sign(1), sign(-1), sign(0))
