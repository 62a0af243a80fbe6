# Compiled by saftc from by_position.json; edit that file instead.
from tools import fixed


def main() -> int:
    return fixed(1, c=3)


if __name__ == "__main__":
    print(main())
