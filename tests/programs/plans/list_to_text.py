# Compiled by saftc from list_to_text.json; edit that file instead.
from tools import upper


def main() -> str:
    return upper(text=",".join(["a", "b"]))


if __name__ == "__main__":
    print(main())
