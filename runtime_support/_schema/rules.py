"""Rules beside types: of a record, and the option `check` of one prompt.

require(self.low <= self.high, "low is at most high")      CheckError if it is not
reason_against(fits, flight)                               why the value does not do
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from runtime_support._values.context import Block, context_here
from runtime_support._values.kinds import brief, is_function
from runtime_support.errors import CheckError, ConfigError, Failed


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


def checked_judge(function: Any, *, is_several: bool, is_program: bool) -> Any:
    """The function behind `check`; ConfigError where there is not one value that it could judge."""
    if not is_function(function):
        raise refused_check(f"expected a function, got {brief(function)}")
    if is_several:
        raise refused_check("several fields are asked for", "ask for one record, which it can take")
    if is_program:
        raise refused_check("it cannot judge a program", "check what it gives behind the prompt")
    return function


def reason_against(function: Callable[[Any], object], value: Any) -> str | None:
    """Why the value does not do; None where it does. What the function does not mean is raised."""
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
    """The error of a `check` that cannot judge."""
    return ConfigError(f"option check: {said}", setting="check", hint=hint)
