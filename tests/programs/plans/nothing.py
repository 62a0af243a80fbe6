# Compiled by saftc from nothing.json; edit that file instead.


def main() -> None:
    return None


if __name__ == "__main__":
    main()
