# Compiled by saftc from text.json; edit that file instead.


def main() -> str:
    return 'a "b"\n'


if __name__ == "__main__":
    print(main())
