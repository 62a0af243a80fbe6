# Compiled by saftc from tuple_by_value.json; edit that file instead.
from runtime_support.programs import coerce
from tools import any_, joined


def main() -> str:
    return joined(words=coerce(any_(of=["a", "b"]), tuple[str, ...]))


if __name__ == "__main__":
    print(main())
