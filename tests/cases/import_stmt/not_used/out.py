# Compiled by saftc from in.saft; edit that file instead.
import os.path as _path  # noqa: F401
from collections import Counter, OrderedDict  # noqa: F401

from runtime_support.ops import show

import effects  # noqa: F401
from a_module_with_a_long_name import (  # noqa: F401
    a_function_with_a_long_name,
    another_function_with_a_long_name,
)
from sib import _own, add  # noqa: F401
from sib import low as lower  # noqa: F401

print(show(Counter))


def go() -> None:
    import json  # noqa: F401

    if True:
        from a_module_with_a_long_name import (  # noqa: F401
            a_function_with_a_long_name,
            another_one,
        )
