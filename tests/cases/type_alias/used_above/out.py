# Compiled by saftc from in.saft; edit that file instead.

Later = int | str


def go(x: Later) -> Later:
    return x


print(go(1))
