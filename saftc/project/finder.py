"""Where the modules that a script imports are: a sibling script, or else on Python's own path.

Nothing is imported to find out: a package's code would run.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path


def folder_of(file: str) -> Path:
    """Where the siblings of the script `file` are; `-` is standard input."""
    return Path() if file == "-" else Path(file).parent


def sibling(name: str, folder: Path) -> Path | None:
    """The script that `import name` means in a script in `folder`, if there is one."""
    path = folder.joinpath(*name.split(".")).with_suffix(".saft")
    return path if path.is_file() else None


def is_python_module(name: str, folder: Path) -> bool:
    """Whether Python would find the module, from a program in `folder`."""
    first, *rest = name.split(".")
    if first in sys.stdlib_module_names and name in sys.modules:
        return True  # `os.path` is a file of another name
    spec = PathFinder.find_spec(first, [str(folder.absolute()), *sys.path]) or _installed(first)
    if spec is None:
        return first in sys.stdlib_module_names and not rest
    for part in rest:
        # By its last part alone: with the whole name, a namespace package asks for its parent.
        spec = _within(part, spec.submodule_search_locations)
        if spec is None:
            return False
    return True


def is_beside(name: str, folder: Path) -> bool:
    """Whether Python would find the module in `folder`: what ruff calls first-party."""
    path = folder / name.split(".")[0]
    return path.is_dir() or path.with_suffix(".py").is_file()


def _within(part: str, locations: Sequence[str] | None) -> ModuleSpec | None:
    return None if locations is None else PathFinder.find_spec(part, list(locations))


def _installed(name: str) -> ModuleSpec | None:
    """What a finder of an editable installation, or the interpreter itself, knows."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        if find is not None and finder is not PathFinder:
            spec = find(name, None, None)
            if spec is not None:
                return spec
    return None
