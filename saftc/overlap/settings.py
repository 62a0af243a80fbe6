"""The settings of the overlap planner. Importing this module does not load the compiler."""

from collections.abc import Set
from typing import NamedTuple


class Overlapping(NamedTuple):
    """The settings of the overlap planner.

    `is_on` says whether prompts may overlap. `pure` are patterns of Python functions that have no
    effects. If `is_async`, the module has `async` functions, whose prompts overlap as tasks.
    `suffix` is appended to the module names of imported scripts. `defaults` are the settings that a
    module with prompts embeds, in JSON. If `waits_at_top`, an async module may await at its top
    level, as a notebook cell may, and has no `main`. `taken` are the names in the notebook that
    runs the cell. The imports and helpers of the cell's module avoid these names.
    """

    is_on: bool = True
    pure: tuple[str, ...] = ()
    is_async: bool = False
    suffix: str = ""
    defaults: str = ""
    waits_at_top: bool = False
    taken: Set[str] | None = None


DEFAULT = Overlapping()
