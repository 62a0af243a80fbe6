# Compiled by saftc from let_of_a_map.json; edit that file instead.
from runtime_support.ops import show
from tools import whole


def main() -> list[list[int]]:
    ns: list[list[int]] = []
    for n in whole():
        m = n
        ns.append([m])
    return ns


if __name__ == "__main__":
    print(show(main()))
