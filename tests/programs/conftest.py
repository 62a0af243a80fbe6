"""What tests of programs share: time, on however busy a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runtime_support.programs import Limits, _evaluation
from runtime_support.programs._machine import run_within


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program whose seconds no test sets has ten minutes, and not ten seconds."""

    def run_within_minutes(seconds: float, work: Callable[[], Any]) -> Any:
        return run_within(600.0 if seconds == Limits().seconds else seconds, work)

    monkeypatch.setattr(_evaluation, "run_within", run_within_minutes)
