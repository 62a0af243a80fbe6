"""Checked calls of functions whose signature the compiler does not know.

    call_checked(add, (1, 2), {}, validate)     checks the arguments against the signature
    check_results(add, schema, validate, may_wait=False)     `add`, with its results checked

`validate` is the function of this name in `checking`. It is a parameter because `checking` calls
this module to check values that are functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Protocol

from runtime_support._core.tasks.loops import maybe_await
from runtime_support._schema import model as m
from runtime_support._schema.signatures import Parameter, Signature, signature_of
from runtime_support._values.awaiting import in_loop
from runtime_support._values.kinds import brief, is_approved, plain
from runtime_support._values.names import did_you_mean, function_name, listed
from runtime_support.errors import CheckError

_OURS = __name__.partition(".")[0] + "."
# The attribute in which a wrapper from `check_results` keeps the schema of its results.
_HELD = "__saft_held__"


class Validate(Protocol):
    """A function that checks a value against a schema.

    It returns the value, converted if need be, or raises CheckError.
    """

    def __call__(self, value: Any, schema: m.Schema, *, path: str) -> Any: ...


def call_checked(
    function: Any, arguments: tuple[Any, ...], named: dict[str, Any], validate: Validate
) -> Any:
    """Calls a function and returns its result, which may be an awaitable.

    Raises CheckError if the arguments do not fit the function's parameters.
    """
    function = plain(function)
    if not callable(function):
        raise CheckError(f"cannot call {brief(function)}")
    signature = signature_of(function)
    if signature.open_ended:
        given = {key: plain(value) for key, value in named.items()}
        return plain(function(*map(plain, arguments), **given))
    name = function_name(function)
    by_parameter = _by_parameter(name, signature, arguments, named)
    if str(getattr(function, "__module__", "")).startswith(_OURS):
        return plain(function(*arguments, **by_parameter))  # the builtins check what they get

    def checked(parameter: Parameter, value: Any) -> Any:
        return validate(value, parameter.schema, path=f"{name}({parameter.name})")

    takers = _positional(signature)
    positional = list(map(checked, takers, arguments))
    if signature.rest is not None:
        positional += checked(signature.rest, list(arguments[len(takers) :]))
    parameters = {parameter.python_name: parameter for parameter in signature.named}
    by_name = {key: checked(parameters[key], value) for key, value in by_parameter.items()}
    return plain(function(*positional, **by_name))


def check_results(
    function: Callable[..., Any], gives: m.Schema, validate: Validate, *, may_wait: bool
) -> Callable[..., Any]:
    """Wraps a function, so that its results are checked against `gives`.

    Its arguments are checked against its signature. A result of another type raises a CheckError
    that names the function. An awaitable result is awaited in the run's event loop, or by the
    caller if `may_wait`. The wrapper of a function that needs approval needs approval, too.
    """
    wanted = (gives, may_wait)
    if getattr(function, _HELD, None) == wanted:
        return function
    if is_approved(function):
        approved: Any = function
        inner = check_results(approved.__wrapped__, gives, validate, may_wait=may_wait)
        return approved.__class__(inner)
    path = f"{function_name(function)}()"

    def held(value: Any) -> Any:
        return validate(plain(value), gives, path=path)

    async def awaited(value: Any) -> Any:
        return held(await maybe_await(value))

    @wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        value = call_checked(function, arguments, named, validate)
        if isawaitable(value):
            return awaited(value) if may_wait else in_loop(awaited(value))
        return held(value)

    @wraps(function)
    async def checked_later(*arguments: Any, **named: Any) -> Any:
        return await awaited(call_checked(function, arguments, named, validate))

    made = checked_later if may_wait and iscoroutinefunction(function) else checked
    setattr(made, _HELD, wanted)
    return made


def unwrap_checked(function: Any) -> Any:
    """Returns the function that `check_results` wrapped, or the function itself."""
    while hasattr(function, _HELD):
        function = function.__wrapped__
    return function


def _by_parameter(
    name: str, signature: Signature, arguments: tuple[Any, ...], named: dict[str, Any]
) -> dict[str, Any]:
    """Maps the Python names of parameters to the named arguments.

    Raises CheckError if the call does not fit the signature.
    """
    names = [parameter.name for parameter in signature.named]
    positional = [parameter.name for parameter in _positional(signature)]
    if len(arguments) > len(positional) and signature.rest is None:
        parameters = f" ({listed(names)})" if names else ""
        takes = f"`{name}` takes {len(positional)} arguments{parameters}"
        raise CheckError(f"{takes}, got {len(arguments)}")
    given = set(positional[: len(arguments)])
    found: dict[str, Any] = {}
    for key, value in named.items():
        parameter = _named(key, signature)
        if parameter is None:
            hint = did_you_mean(key, names) or f"its parameters are {listed(names)}"
            raise CheckError(f"`{name}` has no parameter `{key}`", hint=hint)
        if parameter.name in given:
            raise CheckError(f"`{name}` got `{parameter.name}` twice")
        if parameter.passed == "by position":
            raise CheckError(f"`{name}` takes `{parameter.name}` by position, not by name")
        given.add(parameter.name)
        found[parameter.python_name] = value
    missing = [p.name for p in signature.named if p.required and p.name not in given]
    if missing:
        raise CheckError(f"`{name}` needs {listed(missing)}, which the call does not give")
    return found


def _positional(signature: Signature) -> list[Parameter]:
    return [parameter for parameter in signature.named if parameter.passed != "by name"]


def _named(key: str, signature: Signature) -> Parameter | None:
    """Returns the parameter with this name, or None.

    Ignores underscores at the end of a name, which the compiler adds to keywords.
    """
    for parameter in signature.named:
        if key in (parameter.python_name, parameter.name):
            return parameter
    stem = key.rstrip("_")
    alike = [p for p in signature.named if p.python_name.rstrip("_") == stem]
    return alike[0] if len(alike) == 1 else None
