# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show


def first() -> list[Any]:
    import abc
    import zlib

    return [zlib, abc]


def second() -> list[Any]:
    # above
    # beside
    import math
    import string
    from math import e

    return [math, e, string]


def third() -> Any:
    for x in [1]:
        print(x)
        import base64

        # end
    return base64


def fourth() -> int:
    import json  # noqa: F401

    # never used
    return 1


print(show(first()), show(second()), show(third()), fourth())
