# Compiled by saftc from let_for_effects_in_let.json; edit that file instead.
from tools import note


def main() -> int:
    note("b")
    note("e")
    return note("f")


if __name__ == "__main__":
    print(main())
