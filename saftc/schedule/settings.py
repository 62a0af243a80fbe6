"""What is asked of the schedule; known without loading the compiler."""

from typing import NamedTuple


class Overlapping(NamedTuple):
    """Whether prompts may overlap, and patterns of Python functions that have no effects."""

    is_on: bool = True
    pure: tuple[str, ...] = ()


DEFAULT = Overlapping()
