# Compiled by saftc from realistic.json; edit that file instead.
from tools import Spot, count, is_odd, mean, spot_of, x_of


def main() -> float:
    base = Spot(x=0.0, y=1)
    words = ["north", "to", "the", "sea"]
    far = [x_of(spot=spot_of(word)) for word in words if is_odd(n=count(words=[word]))]
    start = x_of(spot=base)
    return mean(items=[start, mean(items=far)])


if __name__ == "__main__":
    print(main())
