# Compiled by saftc from if.json; edit that file instead.
from tools import is_odd, note


def main() -> int:
    return note("y") if is_odd(1) else note("n")


if __name__ == "__main__":
    print(main())
