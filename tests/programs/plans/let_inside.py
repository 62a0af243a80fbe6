# Compiled by saftc from let_inside.json; edit that file instead.
from runtime_support.ops import show
from tools import note


def main() -> list[int | list[int]]:
    item = note("a")
    n = note("b")
    return [item, [n, n], note("c")]


if __name__ == "__main__":
    print(show(main()))
