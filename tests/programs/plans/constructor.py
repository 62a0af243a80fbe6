# Compiled by saftc from constructor.json; edit that file instead.
from tools import Spot, x_of


def main() -> float:
    return x_of(spot=Spot(x=1.0, y=2))


if __name__ == "__main__":
    print(main())
