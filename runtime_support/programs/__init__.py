"""Programs: a lambda calculus in JSON with which a model answers in one go.

    text or JSON -> reading -> syntax -> checking -> tree -> evaluation -> value -> serialization

- `reading` bounds and parses what came; `syntax` is the grammar, JSON to expressions.
- `types`, `annotations`, `registry`: what a program can name, from Python signatures.
- `checking` (with `fitting`, `coercion`, `ordering`, `findings`) resolves names and types and puts
  coercions in place; it gives the checked `tree`, or all that is wrong at once.
- `evaluation` reduces the tree, `coercing` carries out coercions, `machine` makes every call under
  limits, permission and record, `scheduling` gives it time and threads.
- `outcomes` are the three ways it can end; `patching` and `unrolling` write candidate programs.
- `casting` coerces one value outside a program, for plans that have become Python.
- `serialization` writes values as programs; `describing` and `json_schema` are for the model.

The language knows no domain. It stands on its own and imports nothing else of `runtime_support`.

    from runtime_support.programs import Registry, evaluate

    registry = Registry(functions=[add, find_book], types=[Book], pure=[add])
    evaluate({"add": {"a": 1, "b": 2}}, registry).value
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime_support.programs.ambiguity import Ambiguity, Option, ambiguous, option
    from runtime_support.programs.casting import CoercionError, coerce
    from runtime_support.programs.checking import CheckedProgram
    from runtime_support.programs.describing import describe
    from runtime_support.programs.json_schema import schema
    from runtime_support.programs.limits import Limits
    from runtime_support.programs.outcomes import (
        Ambiguous,
        Call,
        Candidate,
        Diagnostic,
        Failure,
        Outcome,
        Point,
        Success,
    )
    from runtime_support.programs.registry import Registry, RegistryError
    from runtime_support.programs.running import check, evaluate, run
    from runtime_support.programs.serialization import SerializationError, serialize

__all__ = [
    "Ambiguity",
    "Ambiguous",
    "Call",
    "Candidate",
    "CheckedProgram",
    "CoercionError",
    "Diagnostic",
    "Failure",
    "Limits",
    "Option",
    "Outcome",
    "Point",
    "Registry",
    "RegistryError",
    "SerializationError",
    "Success",
    "ambiguous",
    "check",
    "coerce",
    "describe",
    "evaluate",
    "option",
    "run",
    "schema",
    "serialize",
]

_HOMES = {
    "Ambiguity": "ambiguity",
    "CheckedProgram": "checking",
    "CoercionError": "casting",
    "Limits": "limits",
    "Option": "ambiguity",
    "Registry": "registry",
    "RegistryError": "registry",
    "SerializationError": "serialization",
    "ambiguous": "ambiguity",
    "check": "running",
    "coerce": "casting",
    "describe": "describing",
    "evaluate": "running",
    "option": "ambiguity",
    "run": "running",
    "schema": "json_schema",
    "serialize": "serialization",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES.get(name, 'outcomes')}")
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return __all__
