# Compiled by saftc from in.saft; edit that file instead.

names = ["Ada", "Grace"]


def main() -> None:
    for name in names:
        print(name)


if __name__ == "__main__":
    main()
