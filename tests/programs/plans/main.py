# Compiled by saftc from main.json; edit that file instead.
from tools import main as main_


def main() -> int:
    return main_(a=3)


if __name__ == "__main__":
    print(main())
