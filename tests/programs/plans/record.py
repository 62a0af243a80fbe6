# Compiled by saftc from record.json; edit that file instead.
from typing import Any

from runtime_support.ops import show
from tools import any_


def main() -> Any:
    return any_(of={"a": 1, "two words": []})


if __name__ == "__main__":
    print(show(main()))
