# Compiled by saftc from rest.json; edit that file instead.
from tools import largest


def main() -> int:
    return largest(1, 2)


if __name__ == "__main__":
    print(main())
