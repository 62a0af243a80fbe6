# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import show


def first():
    import abc
    import zlib

    return [zlib, abc]


def second():
    # above
    # beside
    import math
    import string
    from math import e

    return [math, e, string]


def third():
    for x in [1]:
        print(x)
        import base64

        # end
    return base64


def fourth() -> int:
    # never used
    return 1


print(show(first()), show(second()), show(third()), fourth())
