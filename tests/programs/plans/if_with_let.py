# Compiled by saftc from if_with_let.json; edit that file instead.
from typing import Any

from runtime_support.ops import show
from tools import is_odd, note


def main() -> list[int] | list[Any]:
    if is_odd(2):
        a = note("t")
        return [a, a]
    elif True:
        b = 1
        return [b]
    else:
        return []


if __name__ == "__main__":
    print(show(main()))
