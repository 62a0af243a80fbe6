"""Public names that are loaded at their first use, so that importing a package costs nothing.

    HOMES = {"_values": "kind show", "_language.builtins": "abs=abs_", "_order": "order=."}
    __getattr__, __dir__ = load_lazily(__name__, "runtime_support", HOMES)

`abs=abs_` offers under the name `abs` what its home calls `abs_`, and `order=.` the home itself.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any


def load_lazily(
    module: str, package: str, *homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module whose public names are in modules of a package."""
    found: dict[str, tuple[str, str]] = {}
    for home, names in chain.from_iterable(one.items() for one in homes):
        for entry in names.split():
            name, _, own = entry.partition("=")
            found[name] = home, own or name

    def load(name: str) -> Any:
        if name not in found:
            raise _unknown(module, name, found)
        home, own = found[name]
        module_of_it = importlib.import_module(f"{package}.{home}")
        value = module_of_it if own == "." else getattr(module_of_it, own)
        setattr(sys.modules[module], name, value)
        return value

    return load, lambda: sorted(found)


def _unknown(module: str, name: str, names: Mapping[str, object]) -> Exception:
    """An AttributeError; for an old name an ImportError, as `from ... import` keeps its words."""
    if not name.startswith("_"):  # Python asks for such names by itself
        from runtime_support._values.renamed import FUNCTIONS, renamed

        new = FUNCTIONS.get(name, "")
        if new in names:
            return ImportError(f"{module}: {renamed(name, new)}", name=module)
    return AttributeError(f"module {module!r} has no attribute {name!r}")
