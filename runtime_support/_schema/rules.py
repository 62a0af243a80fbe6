"""Rules of a record: what its fields have to be beside their types.

require(self.low <= self.high, "low is at most high")      CheckError if it is not
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from runtime_support._context import Block, context_here
from runtime_support.errors import CheckError


def require(condition: object, message: str | Callable[[], str]) -> None:
    """A rule that a record keeps: CheckError with the message, or what gives it, if it does not."""
    if condition:
        return
    error = CheckError(message if isinstance(message, str) else message())
    rules, broken = context_here().tested
    if sys._getframe(1).f_code is not rules:  # pyright: ignore[reportPrivateUsage]
        raise error
    broken.append(error)


@contextmanager
def collected_rules(build: Any) -> Generator[list[CheckError]]:
    """Collects the rules that a record breaks which is made in the block by `build`; a rule may
    count on those before it.

    Nothing for a class whose constructor objects in another way.
    """
    broken: list[CheckError] = []
    rules = getattr(getattr(build, "__post_init__", None), "__code__", None)
    with Block(tested=(rules, broken)):
        yield broken
