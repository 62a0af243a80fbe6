# Compiled by saftc from call.json; edit that file instead.
from tools import add


def main() -> int:
    return add(a=1, b=add(a=2, b=3))


if __name__ == "__main__":
    print(main())
