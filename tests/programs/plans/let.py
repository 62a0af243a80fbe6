# Compiled by saftc from let.json; edit that file instead.
from tools import add, note


def main() -> int:
    n = note("a")
    return add(a=n, b=n)


if __name__ == "__main__":
    print(main())
