"""The acceptance cases of cases/programs.jsonl: program_fixtures.py says what their fields mean."""

import pytest
from program_support import load_cases, registry_of

from runtime_support.programs import (
    Ambiguous,
    Limits,
    ProgramFailure,
    ProgramText,
    Success,
    describe,
    evaluate,
)
from runtime_support.programs import serialize as write

KINDS = {
    "invalid": {"invalid"},
    "limit": {"limit"},
    "timeout": {"timeout"},
    "error": {"error", "conversion", "bad_result", "denied"},
}


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case["id"])
def test_case(case):
    registry, notes = registry_of(*case["registry"]["fixtures"])
    seen = []

    def on_call(name, arguments):
        seen.append(name)
        return name != case.get("host_denies")

    program = case["program"]
    if case.get("program_is_text"):
        program = ProgramText(program)
    limits = Limits(**case.get("limits", {}))
    outcome = evaluate(program, registry, limits=limits, on_call=on_call)
    expected = case["expected"]

    if case["outcome"] == "success":
        assert isinstance(outcome, Success), outcome
        written = write(outcome.value, registry)
        if "value" in expected:
            assert written == expected["value"]
            assert kinds(written) == kinds(expected["value"])
        if "serialised" in expected:
            assert written == expected["serialised"]
        assert outcome.program == program
    elif case["outcome"] == "ambiguous":
        assert isinstance(outcome, Ambiguous), outcome
        if "candidates" in expected:
            assert [one.program for one in outcome.candidates] == expected["candidates"]
    else:
        assert isinstance(outcome, ProgramFailure), outcome
        assert outcome.kind in KINDS[case["outcome"]]
    for part in expected.get("message_parts", []):
        assert part in outcome.message
    if "path" in expected:
        path = outcome.points[0].path if isinstance(outcome, Ambiguous) else outcome.path
        assert path == expected["path"]
    if "calls_made" in expected:
        assert len(seen) == len(outcome.calls) == expected["calls_made"]
    if "notes_written" in expected:
        assert notes == expected["notes_written"]


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case["id"])
def test_signatures(case):
    registry, _ = registry_of(*case["registry"]["fixtures"])
    assert sorted(describe(registry).splitlines()) == sorted(case["registry"]["signatures"])


def kinds(value):
    """Whether numbers are numbers and booleans are booleans, which `==` does not tell apart."""
    if isinstance(value, list):
        return [kinds(item) for item in value]
    if isinstance(value, dict):
        return {key: kinds(item) for key, item in value.items()}
    return "boolean" if isinstance(value, bool) else type(value) is str
