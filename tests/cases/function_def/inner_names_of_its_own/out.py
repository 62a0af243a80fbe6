# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

# Inner functions read none of the call's names here: each has its own of the same name.
x = 1


def outer(is_new: bool) -> int:
    def parameter(x: int) -> int:
        return x + 1

    def items() -> list[int]:
        return [x for x in [1, 2]]

    def loop() -> int:
        for x in [3]:
            print(x)
        return 3

    if is_new:
        x = 2
        print(x)
    print(show(items()), loop())
    return parameter(3)


print(outer(True), outer(False), x)
