"""Programs: a lambda calculus in JSON with which a model answers in one go.

    text or JSON -> syntax -> checking -> tree -> evaluation -> value -> writing

- `syntax` reads what came as JSON data of bounded size, and knows the places in it.
- `types`, `registry`: what a program can name, from Python signatures.
- `conversions` says what becomes what, for types and for values: fits, by a route of conversions,
  by a built-in reading, or not at all.
- `checking` resolves names and types and puts coercions in place; it gives the checked `tree`, or
  all that is wrong at once.
- `evaluation` reduces the tree, `coercion` carries out the steps of `conversions`, `machine` makes
  every call under limits, permission and record, and gives it time and threads.
- `outcomes` are the three ways it can end; `choices` writes the programs of those that are
  ambiguous, `writing` values as programs; `registry` and `json_schema` describe programs to models.

The language knows no domain. It is built on the types and the helpers of `runtime_support`,
and knows no prompts, no providers and no network; `prompting` is the bridge to those.

    from runtime_support.programs import Registry, evaluate

    registry = Registry(functions=[add, find_book], types=[Book], pure=[add])
    evaluate({"add": {"a": 1, "b": 2}}, registry).value
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime_support._values.lazy import load_lazily

if TYPE_CHECKING:
    from runtime_support._values.ambiguity import Ambiguity, Option, ambiguous, option
    from runtime_support.programs._evaluation import CoercionError, check, coerce, evaluate
    from runtime_support.programs._json_schema import schema
    from runtime_support.programs._outcomes import (
        Ambiguous,
        Call,
        Candidate,
        Diagnostic,
        Outcome,
        Point,
        ProgramFailure,
        Success,
    )
    from runtime_support.programs._prompting import Plan, program, run
    from runtime_support.programs._registry import Registry, RegistryError, describe
    from runtime_support.programs._syntax import Limits, ProgramText
    from runtime_support.programs._tree import CheckedProgram
    from runtime_support.programs._writing import SerializationError, serialize
else:
    _HOMES = {
        "_values.ambiguity": "Ambiguity Option ambiguous option",
        "programs._evaluation": "CoercionError check coerce evaluate",
        "programs._json_schema": "schema",
        "programs._outcomes": (
            "Ambiguous Call Candidate Diagnostic Outcome Point ProgramFailure Success"
        ),
        "programs._prompting": "Plan program run",
        "programs._registry": "Registry RegistryError describe",
        "programs._syntax": "Limits ProgramText",
        "programs._tree": "CheckedProgram",
        "programs._writing": "SerializationError serialize",
    }
    __getattr__, __dir__ = load_lazily(__name__, "runtime_support", _HOMES)

__all__ = [
    "Ambiguity",
    "Ambiguous",
    "Call",
    "Candidate",
    "CheckedProgram",
    "CoercionError",
    "Diagnostic",
    "Limits",
    "Option",
    "Outcome",
    "Plan",
    "Point",
    "ProgramFailure",
    "ProgramText",
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
    "program",
    "run",
    "schema",
    "serialize",
]
