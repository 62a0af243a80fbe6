# Compiled by saftc from map_with_let.json; edit that file instead.
from runtime_support.ops import show
from tools import add, is_odd, whole


def main() -> list[list[int]]:
    result: list[list[int]] = []
    for n in whole():
        if is_odd(n=n):
            m = add(a=n, b=1)
            result.append([m, m])
    return result


if __name__ == "__main__":
    print(show(main()))
