# Compiled by saftc from needed_names.json; edit that file instead.
from tools import mean, note


def main() -> float:
    float_ = 2
    return mean(items=[float(note("a")), float(float_)])


if __name__ == "__main__":
    print(main())
