# Compiled by saftc from let_in_let.json; edit that file instead.
from runtime_support.ops import show


def main() -> list[int]:
    x = 1
    y = x
    x_ = 2
    return [x_, y]


if __name__ == "__main__":
    print(show(main()))
