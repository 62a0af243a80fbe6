"""Source maps for modules that no script stands behind."""

from __future__ import annotations


class LineMap:
    """As `__saft_source_map__`: each place of the module is the same place in a script."""

    def __init__(self, script: str = "triage.saft") -> None:
        self._script = script

    def position(self, line: int, column: int | None) -> str:
        """The position in the script."""
        return f"{self._script}:{line}:{column}"
