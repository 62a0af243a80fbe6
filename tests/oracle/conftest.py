"""Where the oracle's scripts run."""

import os
from pathlib import Path

import pytest

from runtime_support._core import settings as config


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings but the test's own."""
    for name in list(os.environ):
        if name.startswith("SAFT_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "_configured", {})
