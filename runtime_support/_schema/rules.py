"""Rules of a record: what its fields have to be beside their types.

    require(self.low <= self.high, "low is at most high")      CheckError if it is not
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from runtime_support.errors import CheckError

# The code with the rules of the record all of whose broken rules are looked for, and these.
_tested: ContextVar[tuple[Any, list[CheckError]]] = ContextVar("saft_tested", default=(None, []))


def require(condition: object, message: str | Callable[[], str]) -> None:
    """A rule that a record keeps: CheckError with the message, or what gives it, if it does not."""
    if condition:
        return
    error = CheckError(message if isinstance(message, str) else message())
    rules, broken = _tested.get()
    if sys._getframe(1).f_code is not rules:  # pyright: ignore[reportPrivateUsage]
        raise error
    broken.append(error)


def broken_rules(build: Callable[..., Any], fields: Mapping[str, Any]) -> list[CheckError]:
    """The rules that the record of these fields breaks; a rule may count on those before it.

    Nothing for a class whose constructor objects in another way.
    """
    rules = getattr(getattr(build, "__post_init__", None), "__code__", None)
    if rules is None:
        return []
    broken: list[CheckError] = []
    token = _tested.set((rules, broken))
    try:
        build(**fields)
    except Exception:  # a rule that cannot be judged where one before it does not hold
        return broken
    finally:
        _tested.reset(token)
    return broken
