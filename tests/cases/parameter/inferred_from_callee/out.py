# Compiled by saftc from in.saft; edit that file instead.


def square(x: int | float) -> int | float:
    return x * x


def twice(y: int | float) -> int | float:
    return square(y) + square(y)


def shout(words: list[str]) -> None:
    for word in words:
        print(word.upper())


print(twice(3))
shout(["a", "b"])
