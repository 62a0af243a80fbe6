# Compiled by saftc from in.saft; edit that file instead.


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def describe(city: str) -> str:
    """Describes a city.

    The text has one sentence; "quotes" and \\backslashes are kept.
    """
    return city + " is a city."


def quoted() -> int:
    """ "Quoted." """
    return 1


print(add(1, 2), describe("Oslo"), quoted())
