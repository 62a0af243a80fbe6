"""The signatures of functions, each read once."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from runtime_support.schemas import Signature, signature_of

_signatures: WeakKeyDictionary[Any, Signature] = WeakKeyDictionary()


def signature_of_function(function: Any) -> Signature:
    """The function's parameters, their schemas and what it says of itself."""
    try:
        found = _signatures.get(function)
    except TypeError:  # cannot be hashed or referred to weakly
        found = None
    if found is not None:
        return found
    found = signature_of(function)
    try:
        _signatures[function] = found
    except TypeError:
        return found
    return found
