# Compiled by saftc from list_by_value.json; edit that file instead.
from runtime_support.programs import coerce
from tools import any_, mean


def main() -> float:
    return mean(items=coerce(any_(of=[1, "2"]), list[float]))


if __name__ == "__main__":
    print(main())
