# Compiled by saftc from let_of_a_choice.json; edit that file instead.
from tools import add, is_odd, note


def main() -> int:
    if is_odd(1):
        m = note("m")
        n = add(a=m, b=m)
    else:
        n = 0
    return add(a=n, b=1)


if __name__ == "__main__":
    print(main())
