"""Runs the rules that a value must satisfy besides its type: a record's, and a prompt's `check`.

require(self.low <= self.high, "low is at most high")      raises CheckError if false
reason_against(fits, flight)                               why `fits` refuses the value
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from runtime_support._values.context import Block, current_context
from runtime_support._values.kinds import brief, is_function
from runtime_support.errors import CheckError, ConfigError, Failed


def require(condition: object, message: str | Callable[[], str]) -> None:
    """Raises CheckError if a record's rule is broken; `message` may be a function returning it."""
    if condition:
        return
    error = CheckError(message if isinstance(message, str) else message())
    rules, broken = current_context().tested
    if sys._getframe(1).f_code is not rules:  # pyright: ignore[reportPrivateUsage]
        raise error
    broken.append(error)


@contextmanager
def collected_rules(build: Any) -> Generator[list[CheckError]]:
    """Collects the broken rules of the record that `build` makes in the block.

    Later rules may rely on earlier ones. The list stays empty if the class has no `__post_init__`.
    """
    broken: list[CheckError] = []
    rules = getattr(getattr(build, "__post_init__", None), "__code__", None)
    with Block(tested=(rules, broken)):
        yield broken


def checked_judge(function: Any, *, is_several: bool, is_program: bool) -> Any:
    """Returns the function of the option `check`; raises ConfigError if it has no single value."""
    if not is_function(function):
        raise refused_check(f"expected a function, got {brief(function)}")
    if is_several:
        raise refused_check("several fields are asked for", "ask for one record, which it can take")
    if is_program:
        raise refused_check("it cannot judge a program", "check what it gives behind the prompt")
    return function


def reason_against(function: Callable[[Any], object], value: Any) -> str | None:
    """Returns why the function refuses the value, or None if it accepts; other errors propagate."""
    try:
        result = function(value)
    except (Failed, AssertionError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        return str(error) or "assertion failed"
    if result is False or hasattr(result, "__await__"):
        gives = "false" if result is False else "something to await"
        raise refused_check(f"the function gives {gives}", "fail with a reason, for the model")
    return None


def refused_check(said: str, hint: str | None = None) -> ConfigError:
    """Returns the error for a `check` that cannot judge."""
    return ConfigError(f"option check: {said}", setting="check", hint=hint)
