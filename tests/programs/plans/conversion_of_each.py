# Compiled by saftc from conversion_of_each.json; edit that file instead.
from tools import spot_of, spots, words


def main() -> float:
    return spots(of=[spot_of(item) for item in words()])


if __name__ == "__main__":
    print(main())
