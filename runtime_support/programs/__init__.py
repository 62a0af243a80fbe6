"""Programs: a lambda calculus in JSON, in which a model combines many calls in one reply.

    text or JSON -> syntax -> checking -> tree -> evaluation -> value -> writing

- `syntax` reads programs as JSON data of limited size, and finds values by their paths.
- `types` and `registry` define the names that a program can use, from Python signatures.
- `conversions` decides how a value of one type becomes a value of another: unchanged, by a chain of
  conversion functions, by a built-in rule, or not at all.
- `checking` resolves names and types and inserts coercions; it returns the checked `tree`, or all
  mistakes at once.
- `evaluation` evaluates the tree, `coercion` executes the steps of `conversions`, and `machine`
  makes every call: with limits, permission, a record, a time limit and threads.
- `outcomes` are the three ways in which a program can end. `choices` writes the candidates of an
  ambiguous program, and `writing` writes values as programs. `registry` and `json_schema` describe
  programs to models.

The language has no domain. It uses the types and helpers of `runtime_support`, and no prompts,
providers or network; only `prompting` connects it to these.

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
