# Compiled by saftc from by_value_and_conversion.json; edit that file instead.
from runtime_support.programs import coerce
from tools import Spot, any_, spot_of, x_of


def main() -> float:
    return x_of(spot=coerce(any_("ab"), Spot, [spot_of]))


if __name__ == "__main__":
    print(main())
