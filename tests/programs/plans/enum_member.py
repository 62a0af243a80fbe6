# Compiled by saftc from enum_member.json; edit that file instead.
from tools import Colour, paint


def main() -> str:
    return paint(colour=Colour.RED)


if __name__ == "__main__":
    print(main())
