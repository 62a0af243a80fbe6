# Compiled by saftc from negative.json; edit that file instead.


def main() -> float:
    return -0.0


if __name__ == "__main__":
    print(main())
