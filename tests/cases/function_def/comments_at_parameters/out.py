# Compiled by saftc from in.saft; edit that file instead.


def line(
    ticket: str,
    mark: str = "-",  # in front of the title
    # in characters
    width: int = 40,
) -> str:  # one line
    return mark + ticket + str(width)


# nothing yet
def short() -> None:
    print(line("x"))


def last(
    a: int,  # the only one
) -> None:
    print(a)


short()
last(1)
