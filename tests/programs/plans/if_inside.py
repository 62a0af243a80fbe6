# Compiled by saftc from if_inside.json; edit that file instead.
from tools import add, is_odd, note


def main() -> int:
    if is_odd(1):
        t = note("t")
        a = add(a=t, b=t)
    else:
        a = 3
    return add(a=a, b=1)


if __name__ == "__main__":
    print(main())
