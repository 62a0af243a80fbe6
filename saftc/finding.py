"""Where the modules that a script imports are: a sibling script, or else on Python's own path."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path


def sibling(name: str, folder: Path) -> Path | None:
    """The script that `import name` means in a script in `folder`, if there is one."""
    path = folder.joinpath(*name.split(".")).with_suffix(".saft")
    return path if path.is_file() else None


def is_python_module(name: str, folder: Path) -> bool:
    """Whether Python would find the module, from a program in `folder`."""
    first, *rest = name.split(".")
    spec = importlib.machinery.PathFinder.find_spec(first, [str(folder.absolute()), *sys.path])
    if spec is None and first not in sys.builtin_module_names:
        return first in sys.stdlib_module_names
    if not rest:
        return True
    # Finding a submodule imports its package.
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
