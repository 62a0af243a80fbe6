# Compiled by saftc from bare_constructor.json; edit that file instead.
from tools import Spot, x_of


def main() -> float:
    return x_of(spot=Spot(1.0))


if __name__ == "__main__":
    print(main())
