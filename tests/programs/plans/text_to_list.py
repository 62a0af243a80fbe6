# Compiled by saftc from text_to_list.json; edit that file instead.
from runtime_support.programs import coerce
from tools import count, upper


def main() -> int:
    return count(words=coerce(upper("a"), list[str]))


if __name__ == "__main__":
    print(main())
