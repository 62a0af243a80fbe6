# Compiled by saftc from lists_of_lists.json; edit that file instead.
from typing import Any

from runtime_support.ops import show
from tools import any_, spot_of, x_of


def main() -> Any:
    return any_(
        of=[[x_of(spot=spot_of(word)) for word in row] for row in [["ab"], ["c", "d"]]]
    )


if __name__ == "__main__":
    print(show(main()))
