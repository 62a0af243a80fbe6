"""Loads public names at their first use, so that importing a package is cheap.

    HOMES = {"_values.kinds": "kind show", "_language.builtins": "abs=abs_", "ops": "ops=."}
    __getattr__, __dir__, __all__ = load_lazily(__name__, HOMES)

`HOMES` maps other modules of the package to the names that are exported. `abs=abs_` exports `abs_`
as `abs`, and `ops=.` exports the module itself. Type checkers and editors read the `.pyi` file
beside the module.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def load_lazily(
    module: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a module that exports other modules' names.

    `homes` maps the other modules, which are in this package, to the names that are exported.
    """
    found: dict[str, tuple[str, str]] = {}
    for home, names in homes.items():
        for entry in names.split():
            name, _, own = entry.partition("=")
            found[name] = home, own or name

    def load(name: str) -> Any:
        if name not in found:
            raise _unknown(module, name, found)
        home, own = found[name]
        module_of_it = importlib.import_module(f"runtime_support.{home}")
        value = module_of_it if own == "." else getattr(module_of_it, own)
        setattr(sys.modules[module], name, value)
        return value

    public = sorted(found)
    return load, lambda: public, public


def _unknown(module: str, name: str, names: Mapping[str, object]) -> Exception:
    """Returns the error for a name that the module does not export.

    A former name gets an ImportError, because `from ... import` shows the message of such an error.
    Any other name gets an AttributeError.
    """
    if not name.startswith("_"):  # Python itself looks up names with an underscore
        from runtime_support._values.renamed import FUNCTIONS, renamed

        new = FUNCTIONS.get(name, "")
        if new in names:
            return ImportError(f"{module}: {renamed(name, new)}", name=module)
    return AttributeError(f"module {module!r} has no attribute {name!r}")
