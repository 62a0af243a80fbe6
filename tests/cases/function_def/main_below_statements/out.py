# Compiled by saftc from in.saft; edit that file instead.


def main() -> None:
    print("main")


def helper() -> int:
    return 3


print("loaded", helper())


if __name__ == "__main__":
    main()
