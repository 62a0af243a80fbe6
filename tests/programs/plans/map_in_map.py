# Compiled by saftc from map_in_map.json; edit that file instead.
from runtime_support.ops import show


def main() -> list[list[int]]:
    return [[x for x in [x]] for x in [1]]


if __name__ == "__main__":
    print(show(main()))
