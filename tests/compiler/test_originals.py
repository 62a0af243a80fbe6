"""Where the names of Python modules are written, for an editor that goes there."""

from pathlib import Path

import pytest

from saftc.project.scripts import originals

pytestmark = pytest.mark.one_python

_FILES = {
    "shop/__init__.py": (
        '"""A shop."""\n'
        "from .inner import price as cost, Order\n"
        "from .deep import *\n"
        "from . import inner\n"
        "import shop.inner as again\n"
    ),
    "shop/inner.py": (
        "from dataclasses import dataclass\n"
        "from typing import Any\n"
        "from shop import late\n"
        "\n"
        "@dataclass\n"
        "class Order:\n"
        '    """One."""\n'
        "\n"
        'def price(of: Order, *, tax: float = 0.2) -> float:\n    """With tax."""\n    return 1\n'
    ),
    "shop/deep.py": (
        "async def fetch(url: str): ...\n"
        "é, LIMIT = 1, 2\n"
        "if LIMIT:\n"
        "    fast = 1\n"
        "else:\n"
        "    def fast(): ...\n"
        "try:\n"
        "    import ujson as codec\n"
        "except ImportError:\n"
        "    import json as codec\n"
        "for row in []: pass\n"
    ),
    "circle.py": "from circle2 import x\n",
    "circle2.py": "from circle import x\n",
    "broken.py": "def f(:\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Modules of Python beside a script."""
    for name, text in _FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("module", "name", "place", "head", "doc"),
    [
        ("shop", None, "__init__.py:1:1", "", "A shop."),
        (
            *("shop", "cost", "inner.py:9:5"),
            *("def price(of: Order, *, tax: float=0.2) -> float", "With tax."),
        ),
        ("shop", "Order", "inner.py:6:7", "class Order", "One."),
        ("shop", "fetch", "deep.py:1:11", "def fetch(url: str)", ""),
        ("shop", "LIMIT", "deep.py:2:4", "é, LIMIT = 1, 2", ""),
        ("shop", "fast", "deep.py:4:5", "fast = 1", ""),
        ("shop", "codec", "deep.py:8:21", "import ujson as codec", ""),
        ("shop", "row", "deep.py:11:5", "for row in []: pass", ""),
        ("shop", "inner", "inner.py:1:1", "", ""),
        ("shop", "again", "inner.py:1:1", "", ""),
        ("shop", "deep", "deep.py:1:1", "", ""),
        ("shop.inner", "dataclass", "dataclasses.py", "def dataclass(", ""),
        ("shop.inner", "Any", "typing.py", "class Any", ""),
        ("json", "dumps", "__init__.py", "def dumps(", ""),
    ],
)
def test_where_a_name_is_written(
    folder: Path, module: str, name: str | None, place: str, head: str, doc: str
) -> None:
    found = originals(folder).written(module, name)
    assert found is not None
    at = found.source.position(found.span.start)
    shown = f"{Path(found.source.name).name}:{at.line}:{at.column}"
    assert shown.startswith(place) and found.head.startswith(head)
    assert not doc or found.doc == doc


@pytest.mark.parametrize(
    ("module", "name"),
    [
        *(("shop", "missing"), ("shop.inner", "late"), ("circle", "x")),
        *(("broken", "f"), ("nowhere", "f"), ("math", "pi")),
    ],
)
def test_what_is_written_nowhere(folder: Path, module: str, name: str) -> None:
    assert originals(folder).written(module, name) is None
