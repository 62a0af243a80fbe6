# Compiled by saftc from in.saft; edit that file instead.


def double(x: int) -> int:
    return x * 2


def say(text: str) -> None:
    print(text)


say(str(double(4)))
