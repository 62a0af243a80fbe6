from functools import partial


def count(name: str) -> int:
    """How many there are."""
    return len(name)


prices = partial(count)
