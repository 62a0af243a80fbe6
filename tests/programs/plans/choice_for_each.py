# Compiled by saftc from choice_for_each.json; edit that file instead.
from typing import Any

from runtime_support.ops import show
from tools import is_odd, note, whole


def main() -> list[list[int] | list[Any]]:
    result: list[list[int] | list[Any]] = []
    for n in whole():
        if is_odd(n=n):
            m = note("m")
            result.append([m, m])
        else:
            result.append([])
    return result


if __name__ == "__main__":
    print(show(main()))
