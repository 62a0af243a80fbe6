"""Anything at all may come from a model: evaluate answers with an outcome, within its limits."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from program_support import registry_of, registry_that_waits

from runtime_support._core.hooks import RequestedCall
from runtime_support.programs import (
    Ambiguous,
    Limits,
    ProgramFailure,
    ProgramText,
    Success,
    evaluate,
)
from runtime_support.programs._evaluation import check, run
from runtime_support.programs._tree import CheckedProgram, waiting_in

FAST = settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
LIMITS = Limits(depth=6, nodes=60, calls=12, items=10, seconds=2, bytes=2_000)
FIXTURES = ("calc", "text", "books", "places", "vessels", "effects")

registry, notes = registry_of(*FIXTURES)
waiting, _ = registry_that_waits(*FIXTURES)
parameters = {p.name for d in registry.definitions.values() for p in d.parameters}
NAMES = [*registry.definitions, "$let", "$ref", "$map", "$if", "$object", "$", "ad", "nota"]
KEYS = [*parameters, "bind", "in", "over", "as", "do", "where", "test", "then", "else", "x", ""]

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["a,b", "2", "x", "Emma", "Ulysses", "Springfield", "u"]),
    st.just({"$ref": "x"}),
)
bodies = st.dictionaries(st.sampled_from(KEYS), leaves, max_size=3)
anything = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=2),
        st.builds(
            lambda name, body: {name: body},
            st.sampled_from(NAMES),
            st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
        ),
        st.sampled_from(list(registry.definitions.values())).flatmap(
            lambda one: st.fixed_dictionaries({p.name: inner for p in one.parameters}).map(
                lambda body: {one.name: body}
            )
        ),
        st.builds(lambda a, b: {"$let": {"bind": {"x": a}, "in": b}}, inner, inner),
        st.builds(lambda a, b: {"$map": {"over": [a, a], "as": "x", "do": b}}, inner, inner),
    ),
    max_leaves=12,
)


def examine(program, seen):
    outcome = evaluate(
        program, registry, limits=LIMITS, on_call=lambda name, _: (seen.append(name), True)[1]
    )
    assert isinstance(outcome, Success | ProgramFailure | Ambiguous)
    assert len(seen) <= LIMITS.calls
    assert str(outcome)
    if isinstance(outcome, Ambiguous):
        for candidate in outcome.candidates:
            json.dumps(candidate.program)
    if isinstance(outcome, ProgramFailure) and outcome.kind == "invalid":
        assert not seen
        assert outcome.diagnostics
    return outcome


@pytest.mark.heavy
@FAST
@given(anything)
def test_any_json_data(program):
    examine(program, [])


@FAST
@given(anything)
def test_nothing_that_waits_is_called_but_in_a_program_that_was_approved(program):
    waits = {one.name for one in waiting.definitions.values() if one.waits}
    called = {one.name for one in evaluate(program, waiting, limits=LIMITS).calls}
    assert called.isdisjoint(waits)
    found = check(program, waiting, limits=LIMITS)
    if isinstance(found, CheckedProgram):
        call = RequestedCall("program", "", "program", approval=object())
        approved = {one.name for one in run(found, limits=LIMITS, call=call).calls}
        assert approved & waits <= set(waiting_in(found)), "whoever approves is told of each"


@FAST
@given(anything)
def test_any_json_text(program):
    examine(json.dumps(program), [])


@FAST
@given(st.text(max_size=40))
def test_any_text(text):
    examine(text, [])


@FAST
@given(st.recursive(st.one_of(leaves, st.binary(), st.dates()), lambda inner: st.one_of(
    st.lists(inner), st.tuples(inner), st.sets(st.integers()),
    st.dictionaries(st.one_of(st.integers(), st.text()), inner)), max_leaves=6))  # fmt: skip
def test_any_python_data(program):
    if not isinstance(program, str):
        examine(program, [])


def test_hostile_shapes():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    cyclic: list = []
    cyclic.append(cyclic)
    wide = [[]]
    for _ in range(40):
        wide = [wide, wide]
    for program in (deep, cyclic, wide, "x" * 100_000, 10**6000):
        assert isinstance(examine(program, []), ProgramFailure)
    for text in ("[" * 100_000, '{"a":' * 50_000, "1" * 100_000):
        assert isinstance(examine(ProgramText(text), []), ProgramFailure)


@pytest.mark.heavy
def test_a_doubling_value_is_stopped():
    roomy = Limits(depth=100, nodes=1_000, seconds=120)
    bindings = {"x0": {"dyn": {"of": [1, 1]}}}
    for number in range(40):
        bindings[f"x{number + 1}"] = {"dyn": {"of": [{"$ref": f"x{number}"}] * 2}}
    program = {"$let": {"bind": bindings, "in": {"$ref": "x40"}}}
    outcome = evaluate(program, registry, limits=roomy)
    assert isinstance(outcome, ProgramFailure)
    assert outcome.kind == "limit"
