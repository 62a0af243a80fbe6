"""One server for all tests of the folder: each test has scripts of its own names."""

from collections.abc import Iterator

import pytest

from tests.lsp.client import Editor, editor


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    folder = tmp_path_factory.mktemp("scripts").resolve()
    with editor(folder, {"parameterTypes": True}) as made:
        yield made
