"""What is wrong with a program is found before anything runs, all of it."""

# ruff: noqa: E501  (tables of cases, one a line)

import json

import pytest
from program_support import registry_of

from runtime_support.programs import (
    Ambiguous,
    Limits,
    ProgramFailure,
    ProgramText,
    Registry,
    Success,
    evaluate,
)

ONE = {"zero": {}}

# fixtures, program, parts of the message, path
WRONG = [
    ("calc", {"ad": {"a": 1, "b": 2}}, ["unknown function 'ad', did you mean add?"], ""),
    ("calc", {"add": {"a": 1, "b": {"Zero": {}}}}, ["did you mean zero?"], "/add/b"),
    ("text", {"repeat": {"txt": "a"}}, ["unknown parameter 'txt'", "missing required parameter 'text'"],
     "/repeat/txt"),
    ("text", {"upper": {"upper": {"text": "x"}}}, ["unknown parameter 'upper'", 'write {"text": {"upper": ...}}'], "/upper/upper"),
    ("text", {"$let": {"bind": {"x": "a"}, "in": {"upper": {"$ref": "x"}}}},
     ["unknown parameter '$ref'"], "/$let/in/upper/$ref"),
    ("calc", {"add": {"a": 1}}, ["missing required parameter 'b' of add"], "/add"),
    ("calc", {"zero": {"x": 1}}, ["unknown parameter 'x' of zero", "takes nothing"], "/zero/x"),
    ("calc", {"add": 5}, ["takes an object of arguments", "a, b"], "/add"),
    ("calc", {"zero": 1}, ["takes an object of arguments"], "/zero"),
    ("calc", {"x": 1}, ["unknown function 'x'", "$object"], ""),
    ("places", {"tag": {"info": {"size": 3}}}, ["unknown function 'size'", "$object"], "/tag/info"),
    ("places", {"only": {"box": {"sise": 3}}}, ["unknown function 'sise'"], "/only/box"),
    ("places", {"gap": {"a": {"lat": 1, "lng": 2}, "b": {"lat": 0, "lon": 0}}},
     ["unknown field 'lng' of Point", "did you mean lon?", "missing field 'lon'"], "/gap/a/lng"),
    ("places", {"gap": {"a": {"name": "Oslo"}, "b": {"lat": 0, "lon": 0}}},
     ["unknown function 'name', did you mean City?"], "/gap/a"),
    ("places", {"near": {"where": {"lat": 1, "lon": 2, "alt": 3}}}, ["unknown field 'alt'"],
     "/near/where/alt"),
    ("places", {"near": {"where": {"Point": {"lat": 1, "lon": 2}}}},
     ["expected {lat: number, lon: number}, got Point"], "/near/where"),
    ("places", {"Point": {"lat": "north", "lon": 1}}, ['"north" is not a number'], "/Point/lat"),
    ("calc", {"add": {"a": None, "b": 1}}, ["expected number, got null"], "/add/a"),
    ("calc", {"add": {"a": [1], "b": 1}}, ["expected number, got [number]"], "/add/a"),
    ("calc", {"add": {"a": {"x": 1, "y": 2}, "b": 1}}, ["expected number, got object"], "/add/a"),
    ("calc", {"total": {"items": [1, "two"]}}, ['"two" is not a number'], "/total/items/1"),
    ("calc", {"total": {"items": True}}, ["expected [number], got boolean"], "/total/items"),
    ("calc", {"negate": {"flag": "true"}}, ["expected boolean, got string"], "/negate/flag"),
    ("text", {"upper": True}, ["expected string, got boolean"], "/upper"),
    ("text books", {"upper": {"text": {"shelf": {"room": "east"}}}},
     ["expected string, got [Book]"], "/upper/text"),
    # arguments without their names
    ("text", {"repeat": ["ab", 3]}, ["repeat takes an object of arguments, with text, times"],
     "/repeat"),
    ("text", {"upper": ["a"]}, ["upper takes an object of arguments, with text"], "/upper"),
    ("text", {"upper": ["a", "b"]}, ["upper takes an object of arguments"], "/upper"),
    ("calc", {"total": [{"add": [1, {"zero": {}}]}]}, ["add takes an object of arguments, with a, b"],
     "/total/0/add"),
    ("vessels", {"weigh": {"it": {"Tank": {"ml": 1}}}}, ["expected Jug, got Tank"], "/weigh/it"),
    ("calc", {"$let": {"bind": {"x": "two"}, "in": {"add": {"a": {"$ref": "x"}, "b": 1}}}},
     ['"two" is not a number'], "/$let/in/add/a"),
    # the forms
    ("calc", {"$lett": {"bind": {}, "in": 1}}, ["unknown form '$lett', did you mean $let?"], "/$lett"),
    ("calc", {"$lambda": 1}, ["unknown form '$lambda'"], "/$lambda"),
    ("calc", {"a": 1, "$x": 2}, ["unknown form '$x'"], "/$x"),
    ("calc", {"$object": {}, "x": 1}, ["'$object' must be the only key"], ""),
    ("calc", {"$object": 1}, ["'$object' takes an object"], "/$object"),
    ("calc", {"$ref": 1}, ["'$ref' takes the name of a variable"], "/$ref"),
    ("calc", {"$ref": "add"}, ["unknown variable 'add'"], ""),
    ("calc", {"$let": 1}, ["'$let' takes an object of bind, in"], "/$let"),
    ("calc", {"$let": {"bind": 1, "in": 2}}, ["'bind' takes an object"], "/$let/bind"),
    ("calc", {"$let": {"bindings": {}, "in": 2}}, ["unknown key 'bindings' of '$let'", "missing key 'bind'"],
     "/$let/bindings"),
    ("calc", {"$let": {"bind": {"$x": 1}, "in": 2}}, ["'$x' cannot be the name"], "/$let/bind/$x"),
    ("calc", {"$let": {"bind": {"a": {"$ref": "b"}, "b": {"add": {"a": {"$ref": "a"}, "b": 1}}}, "in": 1}},
     ["cycle: a -> b -> a"], "/$let/bind/a"),
    ("calc", {"$let": {"bind": {"a": {"$ref": "a"}}, "in": 1}}, ["cycle: a -> a"], "/$let/bind/a"),
    ("calc", {"$map": {"over": [1], "do": 1}}, ["missing key 'as' of '$map'"], "/$map"),
    ("calc", {"$map": {"over": [1], "as": 1, "do": 1}}, ["'as' takes the name"], "/$map/as"),
    ("calc", {"$map": {"over": True, "as": "n", "do": 1}}, ["'over'", "list", "got boolean"], "/$map/over"),
    ("calc", {"$map": {"over": [1], "as": "n", "where": "x", "do": 1}},
     ["'where'", "expected boolean, got string"], "/$map/where"),
    ("calc", {"$map": {"over": [{"$ref": "n"}], "as": "n", "do": 1}}, ["unknown variable 'n'"],
     "/$map/over/0"),
    ("calc", {"$if": {"test": True, "then": 1}}, ["missing key 'else' of '$if'"], "/$if"),
    ("calc", {"$if": {"test": "yes", "then": 1, "else": 2}}, ["expected boolean, got string"],
     "/$if/test"),
    ("calc", {"$if": {"test": True, "then": 1, "else": {"ad": {}}}}, ["unknown function 'ad'"],
     "/$if/else"),
    ("calc", {"add": {"a": {"$if": {"test": True, "then": 1, "else": "x"}}, "b": 1}},
     ['"x" is not a number'], "/add/a/$if/else"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "program", "parts", "path"), WRONG)
def test_wrong(names, program, parts, path):
    registry, _ = registry_of(*names.split())
    seen = []
    outcome = evaluate(program, registry, on_call=lambda name, _: bool(seen.append(name)) or True)
    assert isinstance(outcome, ProgramFailure), outcome
    assert (outcome.kind, seen, outcome.calls) == ("invalid", [], ())
    for part in parts:
        assert part in outcome.message
    assert outcome.path == path
    assert outcome.diagnostics[0].path == path


def test_one_root_cause_is_reported_once():
    registry, _ = registry_of("calc")
    program = {"$let": {"bind": {"x": {"ad": {}}}, "in": {"add": {"a": {"$ref": "x"}, "b": 1}}}}
    outcome = evaluate(program, registry)
    assert [one.message for one in outcome.diagnostics] == [
        "unknown function 'ad', did you mean add?"
    ]


RAW = [
    ('{"add": {"a": 1, "a": 2, "b": 3}}', "duplicate key 'a'", "/add"),
    ('[{"x": 1, "y": 2, "x": 3}]', "duplicate key 'x'", "/0"),
    ('{"$let": {"bind": {"x": 1, "x": 2}, "in": 1}}', "duplicate key 'x'", "/$let/bind"),
    ('{"add": {"a": NaN, "b": 1}}', "NaN is not a JSON number", "/add/a"),
    ("[-Infinity]", "Infinity is not a JSON number", "/0"),
    ("1e999", "Infinity is not a JSON number", ""),
    ('{"add": ', "the program is not JSON", ""),
    ("add(1, 2)", "the program is not JSON", ""),
    ("", "the program is not JSON", ""),
]


@pytest.mark.parametrize(("text", "message", "path"), RAW)
def test_raw_text(text, message, path):
    registry, _ = registry_of("calc")
    outcome = evaluate(ProgramText(text), registry)
    assert isinstance(outcome, ProgramFailure)
    assert outcome.kind == "invalid"
    assert message in outcome.message
    assert outcome.path == path


def test_raw_mistakes_are_reported_with_the_others():
    registry, _ = registry_of("calc")
    outcome = evaluate(ProgramText('{"ad": {"a": 1, "a": NaN}}'), registry)
    for part in ("duplicate key 'a'", "NaN", "unknown function 'ad'"):
        assert part in outcome.message


DATA = [
    (1, 2),
    {1: 2},
    {"add": {"a": {1, 2}, "b": 3}},
    pytest.param([object()], id="an-object"),
    float("nan"),
    b"x",
]


@pytest.mark.parametrize("program", DATA, ids=repr)
def test_data_that_is_not_json(program):
    registry, _ = registry_of("calc")
    outcome = evaluate(program, registry)
    assert isinstance(outcome, ProgramFailure)
    assert outcome.kind == "invalid"


LIMITS = [
    ({"depth": 3}, [[[[1]]]], "nested deeper than 3"),
    ({"depth": 2}, {"add": {"a": {"add": {"a": ONE, "b": 1}}, "b": 1}}, "nested deeper than 2"),
    ({"nodes": 5}, [1, 2, 3, 4, 5], "more than 5 nodes"),
    ({"items": 3}, [1, 2, 3, 4], "more than 3 items"),
    ({"bytes": 40}, ["x" * 50], "more than 40 bytes"),
    ({"bytes": 40}, json.dumps(["x" * 50]), "more than 40 bytes"),
]


@pytest.mark.parametrize(("limits", "program", "message"), LIMITS)
def test_limits_before_running(limits, program, message):
    registry, _ = registry_of("calc")
    outcome = evaluate(program, registry, limits=Limits(**limits))
    assert isinstance(outcome, ProgramFailure)
    assert (outcome.kind, outcome.calls) == ("limit", ())
    assert message in outcome.message


def test_at_the_limit_is_within_it():
    registry, _ = registry_of("calc")
    within = Limits(depth=3, nodes=4, items=2, calls=1)
    assert isinstance(evaluate([[[1]]], registry, limits=within), Success)
    assert isinstance(evaluate([1, ONE], registry, limits=within), Success)


def test_a_chain_of_sixteen_calls():
    registry, _ = registry_of("calc")
    program = 0
    for _ in range(31):
        program = {"add": {"a": program, "b": 1}}
    assert evaluate(program, registry).value == 31


def test_the_text_for_the_model():
    registry, _ = registry_of("calc")
    assert str(evaluate({"ad": {"a": 1, "b": 2}}, registry)) == (
        "Invalid at (root): unknown function 'ad', did you mean add?"
    )
    books, _ = registry_of("books")
    assert str(evaluate({"find_book": {"title": "Emma"}}, books)) == (
        "Ambiguous at (root): 2 books are called Emma. Reply with one program or its number.\n"
        '1. the 1815 edition: {"find_book":{"title":"Emma","year":1815}}\n'
        '2. the 1996 edition: {"find_book":{"title":"Emma","year":1996}}'
    )


def test_literal_types_offer_near_values():
    from typing import Literal

    def mark(level: Literal["low", "high"]) -> str:
        return level

    registry = Registry([mark])
    assert evaluate({"mark": "low"}, registry).value == "low"
    outcome = evaluate({"mark": {"level": "hihg"}}, registry)
    assert 'expected "low" | "high", got "hihg", did you mean high?' in outcome.message


def test_an_ambiguity_is_not_an_invalid_program():
    registry, _ = registry_of("text")
    assert isinstance(evaluate({"sort_words": "b,a"}, registry), Ambiguous)
    both = [{"sort_words": "b,a"}, {"uper": "x"}]
    assert isinstance(evaluate(both, registry), ProgramFailure)
