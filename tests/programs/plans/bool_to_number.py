# Compiled by saftc from bool_to_number.json; edit that file instead.
from tools import add, is_odd


def main() -> int:
    return add(a=int(is_odd(1)), b=1)


if __name__ == "__main__":
    print(main())
