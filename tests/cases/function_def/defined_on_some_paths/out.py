# Compiled by saftc from in.saft; edit that file instead.


# A function that a call defines on some paths only is the outer one before.
def rate() -> int:
    return 1


def in_a_loop() -> None:
    rate_ = rate
    for _ in [1, 2]:
        print(rate_())

        def rate_() -> int:
            return 2


def in_a_branch(is_new: bool) -> int:
    rate_ = rate
    if is_new:

        def rate_() -> int:
            return 3

    return rate_()


in_a_loop()
print(in_a_branch(True), in_a_branch(False))
