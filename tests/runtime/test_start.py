"""What a script without prompts imports: little, so that it starts like plain Python."""

from __future__ import annotations

import subprocess
import sys
import typing
from collections.abc import Callable
from typing import Any

import pytest

from runtime_support import ops
from tests.compiler.support import ROOT

SLOW = {"asyncio", "dataclasses", "inspect", "json", "openai", "polars", "pydantic"}


@pytest.mark.parametrize(
    "script",
    [
        "import runtime_support",
        "from runtime_support.ops import show; show([1, {'a': (None,)}])",
        "from runtime_support import ops; ops.print(ops.add(1, ops.member({'a': 1}, 'a')))",
        "from runtime_support.ops import kind, parse, print, read_text, show, to_json; print(1)",
        "from runtime_support import CheckError; from runtime_support.ops import write_text",
    ],
)
def test_what_a_script_without_prompts_loads(script: str) -> None:
    # Without site, which loads what installed packages ask for.
    path = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
    program = f"{path}\n{script}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", program], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) & SLOW == set()


@pytest.mark.parametrize("name", [name for name in dir(ops) if name != "Failure"])
def test_annotations_can_be_read(name: str) -> None:
    function: Callable[..., Any] = getattr(ops, name)
    hints = typing.get_type_hints(function, include_extras=True)
    assert "return" in hints or function is ops.call
