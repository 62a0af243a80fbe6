"""The door to the installed runtime.

The compiler does not know `runtime_support`, and no module of saftc imports it. Some commands work
with it, though, as a compiled module does: they show what it would send, and check programs by its
rules. They ask for its modules here, by name, when they need them.
"""

import importlib
from typing import Any


def runtime(module: str = "") -> Any:
    """The package `runtime_support`, or its module of that name."""
    return importlib.import_module(f"runtime_support.{module}".rstrip("."))
