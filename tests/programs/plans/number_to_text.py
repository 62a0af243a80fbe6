# Compiled by saftc from number_to_text.json; edit that file instead.
from tools import note, upper


def main() -> str:
    return upper(text=str(note("a")))


if __name__ == "__main__":
    print(main())
