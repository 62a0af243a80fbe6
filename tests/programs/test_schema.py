"""schema(registry) holds a model to programs of plain arguments and calls."""

import functools
import json

import jsonschema
import pytest
from program_support import load_cases, registry_of

from runtime_support.programs import schema

pytestmark = pytest.mark.one_python

BEYOND_A_SCHEMA = {
    "P58": "which variables are in scope",
    "P67": "how deeply it is nested",
    "P71": "that an object has a key twice in the text",
}

# What runs as well, but is not what a model is held to.
NOT_PLAIN = {"P26": "0 and 1 for booleans"}


@functools.cache
def validator(*names, **options):
    registry, _ = registry_of(*names)
    written = json.loads(json.dumps(schema(registry, **options)))
    jsonschema.Draft202012Validator.check_schema(written)
    return jsonschema.Draft202012Validator(written)


def program_of(case):
    return json.loads(case["program"]) if case.get("program_is_text") else case["program"]


@pytest.mark.parametrize(
    "case",
    [
        c
        for c in load_cases()
        if c["outcome"] not in ("invalid", "limit") and c["id"] not in NOT_PLAIN
    ],
    ids=lambda c: c["id"],
)
def test_valid_cases_are_accepted(case):
    validator(*case["registry"]["fixtures"]).validate(program_of(case))


@pytest.mark.parametrize(
    "case",
    [c for c in load_cases() if c["outcome"] == "invalid" and c["id"] not in BEYOND_A_SCHEMA],
    ids=lambda c: c["id"],
)
def test_structurally_invalid_cases_are_rejected(case):
    assert not validator(*case["registry"]["fixtures"]).is_valid(program_of(case))


ACCEPTED = [
    (["places"], {"only": {"box": {"size": 3}}}),
    (["places"], {"tag": {"info": {"$object": {"size": 3}}}}),
    (["places"], {"gap": {"a": {"lat": 1, "lon": 2}, "b": {"City": "Oslo"}}}),
    (["calc"], {"$let": {"bind": {"x": 1}, "in": {"add": {"a": {"$ref": "x"}, "b": 2}}}}),
    (["calc"], {"total": {"items": {"$map": {"over": [1], "as": "n", "do": {"$ref": "n"}}}}}),
    (["calc"], {"$if": {"test": True, "then": {}, "else": {"a": 1, "b": 2}}}),
    (["calc"], {"total": [5]}),
    (["text"], {"upper": {"text": {"upper": "a"}}}),
    (["books", "text"], {"sort_words": {"words": {"shelf": {"room": "east"}}}}),
    (["books"], {"greet": {"author": {"$object": {"name": "Joyce"}}}}),
]
REJECTED = [
    (["places"], {"tag": {"info": {"size": 3}}}),
    (["calc"], {"x": 1}),
    (["calc"], {"$let": {"bind": {"x": 1}}}),
    (["calc"], {"$map": {"over": True, "as": "n", "do": 1}}),
    (["text"], {"upper": ["a", "b"]}),
    (["text"], {"sort_words": 5}),
    (["text"], {"sort_words": "b,a"}),
    (["calc"], {"add": {"a": "1", "b": 2}}),
    (["calc"], {"$if": {"test": 1, "then": {}, "else": {"a": 1, "b": 2}}}),
    (["calc"], {"$if": {"test": "yes", "then": 1, "else": 2}}),
    (["calc"], {"$lambda": {"x": 1}}),
    (["calc"], {"add": {"a": {"zero": {"x": 1}}, "b": 1}}),
    (["calc"], {"add": [1, 2]}),
    (["text"], {"upper": {"upper": {"text": "x"}}}),
    (["text"], {"upper": {"text": {"sort_words": {"words": [True]}}}}),
]


@pytest.mark.parametrize(("names", "program"), ACCEPTED)
def test_accepted(names, program):
    validator(*names).validate(program)


@pytest.mark.parametrize(("names", "program"), REJECTED)
def test_rejected(names, program):
    assert not validator(*names).is_valid(program)


def test_returns_narrows_the_root():
    numbers = validator("calc", returns=float)
    assert numbers.is_valid({"zero": {}})
    assert numbers.is_valid(5)
    assert not numbers.is_valid({"a": 1, "b": 2})
    assert not numbers.is_valid(None)


def test_one_definition_per_callable_and_type():
    registry, _ = registry_of("books", "calc")
    names = set(schema(registry)["$defs"])
    assert {f"call.{name}" for name in registry.definitions} <= names
    assert {"any", "number", "string", "Book", "Author", "list-of-number"} <= names
