"""The reader of replies against values that were damaged, and against the reader before it.

`SAFT_REPLY_DAMAGES` says how many. The old reader is in `tests/support/old_reader`: where both
read a reply, they read the same, but for what stands in `DIFFERENCES`.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import pytest

from runtime_support._schema.checking import decode
from runtime_support._schema.reading import schema_of
from runtime_support.errors import CheckError
from tests.runtime.test_exact_values import REPLIES, VALUES
from tests.runtime.test_reader import from_json_schema, load_cases, outcome, same
from tests.runtime.test_readings import CASES, ENTRIES, MENTIONS, NUMBERS, QUOTES, REMARKS
from tests.support.damages import NAMED, Damaged, damaged
from tests.support.old_reader import RecoveryRefused, recover
from tests.support.reading import again, read_reply

pytestmark = pytest.mark.one_python

DAMAGES = int(os.environ.get("SAFT_REPLY_DAMAGES", "300"))
# What the old reader did not read, and why the new one does.
DIFFERENCES = {
    "a label or key may lack its accents, or have some": [
        *('"CAFE"', '"café"', '"uber"', '{"Type": "HIGH", "direccion": "x"}'),
    ],
    "the parts of a second that a time has no room for are cut": [
        *('"2026-01-31T12:00:00.123456789Z"', '"09:30:00.1234567"'),
    ],
}


def of_old(type_: Any, text: str) -> Any:
    schema = schema_of(type_)
    try:
        return decode(recover(text, schema).value, schema)
    except (RecoveryRefused, CheckError):
        return again


def cases() -> list[Damaged]:
    made = random.Random(DAMAGES)
    return [damaged(made) for _ in range(DAMAGES)]


def test_a_damaged_value_is_read_as_it_was_or_asked_again() -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    for case in cases():
        found = read_reply(case.type_, case.text)
        assert found is again or found == case.value, (case.kind, case.text)
        counts[case.kind, found is not again] += 1
    read = sum(counts[kind, True] for kind in NAMED)
    asked = sum(counts[kind, False] for kind in NAMED)
    assert read >= 9 * asked, "asking again always is no reader"
    for kind in NAMED:
        assert counts[kind, True] >= 9 * counts[kind, False], kind


def test_damaged_values_are_those_of_the_old_reader() -> None:
    for case in cases():
        new = read_reply(case.type_, case.text)
        if new is not again:
            old = of_old(case.type_, case.text)
            # The value is known: where the old reader asked again or was wrong, this one is right.
            assert new == (case.value if old is again or old != case.value else old), case.text


def test_cases_are_read_as_by_the_old_reader() -> None:
    for param in load_cases():
        (case,) = param.values
        schema = from_json_schema(case["schema"])
        new = outcome(case["text"], schema)
        if case["expected"] is not None and not case.get("again"):
            assert same(new, decode(recover(case["text"], schema).value, schema)), case


def test_readings_are_those_of_the_old_reader() -> None:
    tables = [*CASES, *QUOTES, *NUMBERS, *MENTIONS, *ENTRIES, *REMARKS]
    for type_, text, _ in tables:
        new = read_reply(type_, text)
        if new is not again and type_ is not str:
            assert new == of_old(type_, text), (type_, text)


def test_exact_values_are_those_of_the_old_reader() -> None:
    different: list[str] = []
    for type_, text, _ in [*(case for kind in VALUES.values() for case in kind), *REPLIES]:
        new, old = read_reply(type_, text), of_old(type_, text)
        if new is not again and (new != old or type(new) is not type(old)):
            different.append(text)
    assert sorted(different) == sorted(text for texts in DIFFERENCES.values() for text in texts)
