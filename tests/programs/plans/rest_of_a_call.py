# Compiled by saftc from rest_of_a_call.json; edit that file instead.
from tools import largest, whole


def main() -> int:
    return largest(*whole())


if __name__ == "__main__":
    print(main())
