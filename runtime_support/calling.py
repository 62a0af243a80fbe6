"""`call(function, *arguments, **named)`: a call whose function the compiler does not know.

The function has to be one, the count and the names of the arguments have to be its own, and each
argument has to satisfy its annotation, as in a call that was proved when compiling.
"""

from __future__ import annotations

from runtime_support.errors import CheckError
from runtime_support.near import did_you_mean, listed
from runtime_support.quick_typing import TYPE_CHECKING, Any
from runtime_support.values import brief, function_name, plain

if TYPE_CHECKING:
    from runtime_support.schema import Parameter, Signature

_OURS = __name__.partition(".")[0] + "."


def call(function: Any, /, *arguments: Any, **named: Any) -> Any:
    """The result of the call, or CheckError when the function cannot be called so."""
    function = plain(function)
    if not callable(function):
        raise CheckError(f"cannot call {brief(function)}")
    from runtime_support.schema import signature_of

    signature = signature_of(function)
    if signature.open_ended:
        given = {key: plain(value) for key, value in named.items()}
        return plain(function(*map(plain, arguments), **given))
    name = function_name(function)
    by_parameter = _by_parameter(name, signature, arguments, named)
    if str(getattr(function, "__module__", "")).startswith(_OURS):
        return plain(function(*arguments, **by_parameter))  # the builtins check what they get
    from runtime_support.schema import validate

    def checked(parameter: Parameter, value: Any) -> Any:
        return validate(value, parameter.schema, path=f"{name}({parameter.name})")

    takers = _positional(signature)
    positional = list(map(checked, takers, arguments))
    if signature.rest is not None:
        positional += checked(signature.rest, list(arguments[len(takers) :]))
    parameters = {parameter.python_name: parameter for parameter in signature.parameters}
    by_name = {key: checked(parameters[key], value) for key, value in by_parameter.items()}
    return plain(function(*positional, **by_name))


def _by_parameter(
    name: str, signature: Signature, arguments: tuple[Any, ...], named: dict[str, Any]
) -> dict[str, Any]:
    """The named arguments by the parameters' names in Python, once all fit the signature."""
    names = [parameter.name for parameter in signature.parameters]
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
    missing = [p.name for p in signature.parameters if p.required and p.name not in given]
    if missing:
        raise CheckError(f"`{name}` needs {listed(missing)}, which the call does not give")
    return found


def _positional(signature: Signature) -> list[Parameter]:
    return [parameter for parameter in signature.parameters if parameter.passed != "by name"]


def _named(key: str, signature: Signature) -> Parameter | None:
    """The parameter of this name; the compiler adds underscores where Python forces it to."""
    for parameter in signature.parameters:
        if key in (parameter.python_name, parameter.name):
            return parameter
    stem = key.rstrip("_")
    alike = [p for p in signature.parameters if p.python_name.rstrip("_") == stem]
    return alike[0] if len(alike) == 1 else None
