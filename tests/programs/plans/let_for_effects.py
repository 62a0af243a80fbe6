# Compiled by saftc from let_for_effects.json; edit that file instead.
from tools import note


def main() -> int:
    note("a")
    return 2


if __name__ == "__main__":
    print(main())
