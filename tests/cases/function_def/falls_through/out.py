# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def find(items: list[str], wanted: str) -> str | None:
    for item in items:
        if item == wanted:
            return item
    return None


def index_of(items: list[str], wanted: str) -> int | None:
    for pair in enumerate(items):
        if pair[1] == wanted:
            return pair[0]
    return None


print(show(find(["a"], "b")), show(index_of(["a", "b"], "b")))
