# Compiled by saftc from map.json; edit that file instead.
from runtime_support.ops import show
from tools import add, is_odd, whole


def main() -> list[int]:
    return [add(a=n, b=1) for n in whole() if is_odd(n=n)]


if __name__ == "__main__":
    print(show(main()))
