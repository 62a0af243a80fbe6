# Compiled by saftc from in.saft; edit that file instead.

x = 1


# about f
def one() -> int:
    # inside, first
    return 1  # beside

    # at the end of one


# between


# about two
def two() -> int:
    return 2


# below two
y = two()
