# Compiled by saftc from widened_list.json; edit that file instead.
from tools import mean, whole


def main() -> float:
    return mean(items=[float(item) for item in whole()])


if __name__ == "__main__":
    print(main())
