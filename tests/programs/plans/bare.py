# Compiled by saftc from bare.json; edit that file instead.
from tools import upper


def main() -> str:
    return upper("abc")


if __name__ == "__main__":
    print(main())
