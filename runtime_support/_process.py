"""What belongs to the process: its environment, and what a forked one does first."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


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
