"""`call(function, *arguments, **named)`: a call whose function the compiler does not know.

The function has to be one, the count and the names of the arguments have to be its own, and each
argument has to satisfy its annotation, as in a call that was proved when compiling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from runtime_support.errors import CheckError
from runtime_support.near import did_you_mean, listed
from runtime_support.values import brief, function_name, plain

if TYPE_CHECKING:
    from runtime_support.schemas import Signature

_signatures: WeakKeyDictionary[Any, Signature] = WeakKeyDictionary()


def call(function: Any, /, *arguments: Any, **named: Any) -> Any:
    """The result of the call, or CheckError when the function cannot be called so."""
    function = plain(function)
    if not callable(function):
        raise CheckError(f"cannot call {brief(function)}")
    signature = signature_of_function(function)
    if signature.open_ended:
        return function(*arguments, **named)
    name = function_name(function)
    names = [parameter.name for parameter in signature.parameters]
    _check_names(name, signature, arguments, named)
    schemas = {parameter.name: parameter.schema for parameter in signature.parameters}
    from runtime_support.schemas import validate

    positional = [
        validate(value, schemas[key], path=f"{name}({key})")
        for key, value in zip(names, arguments, strict=False)
    ]
    if signature.rest is not None:
        others = list(arguments[len(names) :])
        positional += validate(others, signature.rest.schema, path=f"{name}({signature.rest.name})")
    by_name = {
        key: validate(value, schemas[key], path=f"{name}({key})") for key, value in named.items()
    }
    return function(*positional, **by_name)


def signature_of_function(function: Any) -> Signature:
    """The function's signature, read once."""
    try:
        found = _signatures.get(function)
    except TypeError:  # cannot be hashed or referred to weakly
        found = None
    if found is not None:
        return found
    from runtime_support.schemas import signature_of

    found = signature_of(function)
    try:
        _signatures[function] = found
    except TypeError:
        return found
    return found


def _check_names(
    name: str, signature: Signature, arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    names = [parameter.name for parameter in signature.parameters]
    positional = [p.name for p in signature.parameters if p.passed != "by name"]
    if len(arguments) > len(positional) and signature.rest is None:
        parameters = f" ({listed(names)})" if names else ""
        takes = f"`{name}` takes {len(positional)} arguments{parameters}"
        raise CheckError(f"{takes}, got {len(arguments)}")
    given = set(names[: len(arguments)])
    for key in named:
        if key not in names:
            hint = did_you_mean(key, names) or f"its parameters are {listed(names)}"
            raise CheckError(f"`{name}` has no parameter `{key}`", hint=hint)
        if key in given:
            raise CheckError(f"`{name}` got `{key}` twice")
    given.update(named)
    missing = [p.name for p in signature.parameters if p.required and p.name not in given]
    if missing:
        raise CheckError(f"`{name}` needs {listed(missing)}, which the call does not give")
