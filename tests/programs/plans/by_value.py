# Compiled by saftc from by_value.json; edit that file instead.
from runtime_support.programs import coerce
from tools import any_, mean


def main() -> float:
    return mean(items=[1.0, coerce(any_("2"), float)])


if __name__ == "__main__":
    print(main())
