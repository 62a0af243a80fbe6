# Compiled by saftc from constant_hops.json; edit that file instead.
from tools import add


def main() -> int:
    return add(a=4, b=1)


if __name__ == "__main__":
    print(main())
