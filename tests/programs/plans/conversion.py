# Compiled by saftc from conversion.json; edit that file instead.
from tools import spot_of, upper, x_of


def main() -> float:
    return x_of(spot=spot_of(upper("ab")))


if __name__ == "__main__":
    print(main())
