# Compiled by saftc from in.saft; edit that file instead.


def answer() -> int:
    return 42


def hello() -> None:
    print("hello")


def nothing() -> None:
    return


hello()
nothing()
print(answer())
