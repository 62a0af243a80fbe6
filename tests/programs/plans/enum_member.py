# Compiled by saftc from enum_member.json; edit that file instead.
from runtime_support.programs import coerce
from tools import Colour, paint


def main() -> str:
    return paint(colour=coerce("red", Colour))


if __name__ == "__main__":
    print(main())
