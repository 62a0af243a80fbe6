# Compiled by saftc from tuple.json; edit that file instead.
from tools import pair


def main() -> str:
    return pair(of=(1, "a"))


if __name__ == "__main__":
    print(main())
