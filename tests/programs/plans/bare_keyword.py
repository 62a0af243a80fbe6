# Compiled by saftc from bare_keyword.json; edit that file instead.
from tools import named


def main() -> str:
    return named(word="abc")


if __name__ == "__main__":
    print(main())
