# Compiled by saftc from out_of_order.json; edit that file instead.
from tools import fixed, note


def main() -> int:
    c = note("c")
    a = note("a")
    return fixed(a, c=c)


if __name__ == "__main__":
    print(main())
