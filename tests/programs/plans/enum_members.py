# Compiled by saftc from enum_members.json; edit that file instead.
from runtime_support.ops import show
from tools import Colour, mixed


def main() -> Colour:
    return mixed(colours=[Colour.RED, mixed(colours=[Colour.BLUE])])


if __name__ == "__main__":
    print(show(main()))
