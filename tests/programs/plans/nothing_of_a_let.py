# Compiled by saftc from nothing_of_a_let.json; edit that file instead.
from tools import is_odd, note, say


def main() -> None:
    say("a")
    n = note("b")
    if is_odd(n=n):
        say("c")


if __name__ == "__main__":
    main()
