"""One value coerced as a program would coerce it, for plans that have become Python.

    coerce("4.5", float)                          4.5
    coerce(book, str, [author_of, name_of])       "Austen"
    coerce("two", float)                          raises CoercionError

Which of the rules apply is decided by the value, where its type was not known beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

from runtime_support.programs.classes import classes_of
from runtime_support.programs.coercing import Coercer, Site
from runtime_support.programs.limits import Limits
from runtime_support.programs.machine import Machine
from runtime_support.programs.patching import Place
from runtime_support.programs.problems import Frame, Stopped
from runtime_support.programs.registry import Registry
from runtime_support.programs.serialization import serialize
from runtime_support.programs.values import Misfit, conform

T = TypeVar("T")


class CoercionError(ValueError):
    """The value cannot become what is asked for, or in several ways."""


@overload
def coerce(value: Any, wanted: type[T], conversions: Iterable[Callable[..., Any]] = ()) -> T: ...


@overload
def coerce(value: Any, wanted: Any, conversions: Iterable[Callable[..., Any]] = ()) -> Any: ...


def coerce(value: Any, wanted: Any, conversions: Iterable[Callable[..., Any]] = ()) -> Any:
    """The value as a `wanted`: as it is, by the conversions, or by a built-in hop.

    Raises CoercionError when there is no way, when there are several, and when a conversion fails.
    """
    conversions = list(conversions)
    registry = Registry(types=classes_of(conversions, wanted), conversions=conversions)
    target = registry.read_type(wanted)
    try:
        return conform(value, target)
    except Misfit:
        pass
    from runtime_support.programs.scheduling import TimeUp, run_within

    limits = Limits()
    coercer = Coercer(registry, Machine(limits))
    site = Site((), Place(()), Frame(names={}), lambda: serialize(value, registry), lambda new: new)
    try:
        return run_within(limits.seconds, lambda: coercer.coerce(value, target, site))
    except Stopped as stopped:
        message = "; ".join(problem.message for problem in stopped.problems)
    except TimeUp:
        message = f"converting the value took longer than {limits.seconds:g} s"
    raise CoercionError(message)
