"""Checks that types cannot express: rules in a record's class, and a prompt's option `check`.

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
    """Raises CheckError with `message` if `condition`, a rule of a record, is false.

    `message` may be a function that returns the text. Inside `collected_rules`, the error is
    collected instead.
    """
    if condition:
        return
    error = CheckError(message if isinstance(message, str) else message())
    rules, broken = current_context().tested
    if sys._getframe(1).f_code is not rules:  # pyright: ignore[reportPrivateUsage]
        raise error
    broken.append(error)


@contextmanager
def collected_rules(build: Any) -> Generator[list[CheckError]]:
    """Yields a list that collects the errors of broken rules while the block makes a record.

    Rules are calls of `require` in the `__post_init__` of the class `build`. Without this method,
    the list stays empty. A rule that relies on an earlier rule may fail because the earlier
    rule is broken.
    """
    broken: list[CheckError] = []
    rules = getattr(getattr(build, "__post_init__", None), "__code__", None)
    with Block(tested=(rules, broken)):
        yield broken


def checked_judge(function: Any, *, is_several: bool, is_program: bool) -> Any:
    """Returns the function of the option `check`.

    Raises ConfigError if the option is not a function, or if the prompt asks for several fields or
    for a program.
    """
    if not is_function(function):
        raise refused_check(f"expected a function, got {brief(function)}")
    if is_several:
        raise refused_check("several fields are asked for", "ask for one record, which it can take")
    if is_program:
        raise refused_check("it cannot judge a program", "check what it gives behind the prompt")
    return function


def reason_against(function: Callable[[Any], object], value: Any) -> str | None:
    """Returns the reason why the function refuses the value, or None if it accepts the value.

    The reason is the text of the function's error. Errors other than failed checks propagate.
    """
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
    """Returns the error for a function in the option `check` that cannot check the value."""
    return ConfigError(f"option check: {said}", setting="check", hint=hint)
