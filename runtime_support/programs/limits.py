"""How large a program may be and how much it may do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one evaluation.

    `depth` of nested expressions, `nodes` in the program, `calls` made (those in a `$map` once
    for each element), `items` in a list of the program and in all that its `$map`s walk over,
    `seconds` from start to end, `bytes` of the program and of its result as JSON text in UTF-8.
    """

    depth: int = 32
    nodes: int = 512
    calls: int = 256
    items: int = 1_000
    seconds: float = 10.0
    bytes: int = 64 * 1024
