"""The settings of the overlap planner; importing them does not load the compiler."""

from collections.abc import Set
from typing import NamedTuple


class Overlapping(NamedTuple):
    """Whether prompts may overlap, and patterns of Python functions that have no effects.

    If `is_async`, the module has `async` functions, whose prompts overlap as tasks. `suffix` is
    appended to the module names of imported scripts. `defaults` are the settings that a module with
    prompts embeds, in JSON. If `waits_at_top`, an async module may await at its top level, as a
    notebook cell may, and has no `main`. `taken` are the names in the notebook that runs the cell:
    the imports and helpers of the cell's module avoid them.
    """

    is_on: bool = True
    pure: tuple[str, ...] = ()
    is_async: bool = False
    suffix: str = ""
    defaults: str = ""
    waits_at_top: bool = False
    taken: Set[str] | None = None


DEFAULT = Overlapping()
