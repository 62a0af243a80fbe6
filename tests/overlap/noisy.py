"""A function of Python, of whose effects nothing is known."""


def shout(a: str) -> str:
    """Prints at once, whoever's turn it is."""
    print("shout", a)
    return a.upper()
