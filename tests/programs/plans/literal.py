# Compiled by saftc from literal.json; edit that file instead.
from tools import level


def main() -> str:
    return level(of="low")


if __name__ == "__main__":
    print(main())
