# Compiled by saftc from in.saft; edit that file instead.


def total() -> int:
    return price() * count


def price() -> int:
    return 3


print(total())
count = 2
print(total())


def main() -> None:
    print(note)


if count > 1:
    note = "many"


if __name__ == "__main__":
    main()
