# Compiled by saftc from in.saft; edit that file instead.


def go() -> int:
    x = 1
    return x


# close
if True:

    def g() -> int:
        return 1

    # nested
    print(g())
if True:

    def h() -> int:
        return 1

    # end
print(go())


def last() -> int:
    return 1


# odd
