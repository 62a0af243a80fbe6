# Compiled by saftc from effect.json; edit that file instead.
from tools import say


def main() -> None:
    say(text="a")


if __name__ == "__main__":
    main()
