# Compiled by saftc from names.json; edit that file instead.
from runtime_support.ops import show
from tools import add


def main() -> list[int]:
    add_ = 1
    class_ = 2
    my_var = 3
    _1st = 4
    return [add(a=add_, b=class_), my_var, _1st]


if __name__ == "__main__":
    print(show(main()))
