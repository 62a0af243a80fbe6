# Compiled by saftc from let_in_its_order.json; edit that file instead.
from runtime_support.ops import show


def main() -> list[int]:
    a = 1
    b = a
    return [a, b]


if __name__ == "__main__":
    print(show(main()))
