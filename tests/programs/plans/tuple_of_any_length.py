# Compiled by saftc from tuple_of_any_length.json; edit that file instead.
from tools import joined


def main() -> str:
    return joined(words=tuple(w for w in ["a"]))


if __name__ == "__main__":
    print(main())
