# Compiled by saftc from in.saft; edit that file instead.


def main(name: str) -> None:
    print(name)


main("Ada")
