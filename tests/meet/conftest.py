"""A user: a folder of their own, a server that they ask, and processes that start at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_server import FakeServer
from tests.support.homes import Home
from tests.support.spawner import Spawner


@pytest.fixture(scope="session")
def spawner() -> Iterator[Spawner]:
    running = Spawner()
    yield running
    running.close()


@pytest.fixture
def home(tmp_path: Path, spawner: Spawner) -> Iterator[Home]:
    """The user's folder; what its server was sent is judged at the end."""
    folder = tmp_path / "home"
    folder.mkdir()
    with FakeServer() as server:
        yield Home(folder, spawner, server)
