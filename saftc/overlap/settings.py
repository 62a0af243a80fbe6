"""What is asked of the schedule; known without loading the compiler."""

from collections.abc import Set
from typing import NamedTuple


class Overlapping(NamedTuple):
    """Whether prompts may overlap, and patterns of Python functions that have no effects.

    `is_async`: the module is one of `async` functions, whose prompts overlap by tasks. `suffix`
    stands behind the names of modules: those of scripts that are imported are called so.
    `defaults` are the settings that a module with prompts takes with it, in JSON. `waits_at_top`:
    an async module waits at its top level, as a cell of a notebook may, and has no `main`. `taken`
    are the names of the notebook that a cell is run in: what its module imports and makes for
    itself has other names.
    """

    is_on: bool = True
    pure: tuple[str, ...] = ()
    is_async: bool = False
    suffix: str = ""
    defaults: str = ""
    waits_at_top: bool = False
    taken: Set[str] | None = None


DEFAULT = Overlapping()
