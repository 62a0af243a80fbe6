# Compiled by saftc from typed_let.json; edit that file instead.
from runtime_support.ops import show
from tools import Wide, north, total


def main() -> list[int | float]:
    xs: list[int | float] = [1, 2]
    w: Wide = {"lat": 1.5}
    return [total(items=xs), north(where=w)]


if __name__ == "__main__":
    print(show(main()))
