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

from runtime_support._values.lazy import load_lazily

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
__getattr__, __dir__, __all__ = load_lazily(__name__, _HOMES)
