"""What the mock makes of the summary of a dataframe."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl
import pytest

from runtime_support import configure, prompt

TABLE = pl.DataFrame({"name": ["Ada", "Bo"], "goals": [1, 9], "age": [30, 20], "note": [None] * 2})


@pytest.fixture(autouse=True)
def _mock() -> None:
    configure(provider="mock")


@pytest.mark.parametrize(
    ("question", "column"),
    [
        ("Which column of {t} has the highest average?", "age"),
        ("Which column of {t} has the lowest mean?", "goals"),
        ("The column of {t} with the smallest minimum, please.", "goals"),
        ("In which column of {t} is the largest maximum?", "age"),
    ],
)
def test_columns_are_found_in_the_profile(question: str, column: str) -> None:
    assert prompt(question, t=TABLE).value == column
    subject: Any = Literal["note", "goals", "age"]
    assert prompt(question, t=TABLE, returns=subject).value == column


def test_other_questions_are_answered_as_ever() -> None:
    assert prompt("the average of {n}", n=[1, 2], returns=float).value == 1.5
    assert prompt("say which column is nice in {t}", t=TABLE).value.startswith("A short answer")


def test_a_tool_is_called_with_each_column_that_it_takes() -> None:
    def average(figure: Literal["goals", "age", "height"]) -> float:
        return TABLE[figure].mean()

    def top(column: str) -> int:
        return TABLE[column].max()

    result = prompt("Report on {t} with {average} and {top}.", t=TABLE, average=average, top=top)
    assert [(call.tool, call.args, call.result) for call in result.tool_calls] == [
        ("average", {"figure": "goals"}, "5.0"),
        ("average", {"figure": "age"}, "25.0"),
        ("top", {"column": "goals"}, "9"),
        ("top", {"column": "age"}, "30"),
    ]
