# Compiled by saftc from in.saft; edit that file instead.


def outer(n: int) -> int:
    def inner(m: int) -> int:
        return m + n

    return inner(1) + inner(2)


def counter() -> None:
    count = 0

    def show_it() -> None:
        print(count)

    count = 5
    show_it()


print(outer(10))
counter()
