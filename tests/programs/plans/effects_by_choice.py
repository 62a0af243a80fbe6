# Compiled by saftc from effects_by_choice.json; edit that file instead.
from tools import is_odd, say


def main() -> None:
    if is_odd(1):
        say("a")
    else:
        say("b")


if __name__ == "__main__":
    main()
