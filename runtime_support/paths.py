"""Where the relative paths of a script lead: `resolved("data.csv")` is an absolute path.

`saftc run` leaves the script's folder in the main module; there, paths are relative to it. In a
compiled module that Python runs, they are relative to the working directory.
"""

from __future__ import annotations

import os
import sys


def base_folder() -> str:
    """The folder that relative paths begin in."""
    main = sys.modules.get("__main__")
    return os.path.abspath(getattr(main, "__saft_folder__", ""))


def resolved(path: str) -> str:
    """The absolute path, without links in it."""
    return os.path.realpath(os.path.join(base_folder(), path))
