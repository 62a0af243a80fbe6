# Compiled by saftc from let_of_a_let.json; edit that file instead.
from runtime_support.ops import show
from tools import add, note


def main() -> list[int]:
    m = note("m")
    n = add(a=m, b=1)
    return [n]


if __name__ == "__main__":
    print(show(main()))
