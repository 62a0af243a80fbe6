"""What belongs to the process: its environment, and what a forked one does first."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, TypeVar

T = TypeVar("T")


def environment() -> dict[Any, Any]:
    """What `os.environ` keeps; itself, it decodes each variable each time that it is asked for."""
    kept: Any = os.environ
    return getattr(kept, "_data", kept)


def after_fork(action: Callable[[], object]) -> None:
    """Does this first in every forked process: it has none of its parent's threads, and may find
    locks taken by them.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=action)


def restore(variable: ContextVar[T], token: Token[T]) -> bool:
    """Gives a variable its value from before a block; whether it could.

    An async generator that was left is closed in another context: there is nothing to restore.
    """
    try:
        variable.reset(token)
    except ValueError:
        return False
    return True
