"""Errors of prompts carry their position in the script."""

from __future__ import annotations

import importlib.util
import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime_support import ContractError, SaftError, prompt
from runtime_support.positions import mapped
from runtime_support.providers.scripted import Scripted

MODULE = """from runtime_support import prompt

def ask():
    return prompt("a number", returns=int).value
"""

# Line 4, column 11 of the module is line 2, column 9 of the script.
SOURCE_MAP = {"version": 3, "sources": ["triage.saft"], "mappings": ";;AAAA;WACQ"}


def failed(ask: Callable[[], Any]) -> SaftError:
    with pytest.raises(ContractError) as caught:
        ask()
    return caught.value


def test_a_module_compiled_in_memory(scripted: Callable[..., Scripted]) -> None:
    scripted("no", "no")
    names: dict[str, Any] = {"__saft_source_map__": SOURCE_MAP, "__name__": "triage"}
    exec(compile(MODULE, "triage.py", "exec"), names)
    error = failed(names["ask"])
    assert error.saft_position == "triage.saft:2:9"
    assert "at triage.saft:2:9" in "".join(traceback.format_exception(error))


def test_a_module_that_brings_its_own_lookup(scripted: Callable[..., Scripted]) -> None:
    class Lookup:
        def position(self, line: int, column: int | None) -> str:
            return f"triage.saft:{line}:{column}"

    scripted("no", "no")
    names: dict[str, Any] = {"__saft_source_map__": Lookup(), "__name__": "triage"}
    exec(compile(MODULE, "triage.py", "exec"), names)
    assert failed(names["ask"]).saft_position == "triage.saft:4:11"


def test_a_module_with_its_map_beside_it(tmp_path: Path, scripted: Callable[..., Scripted]) -> None:
    scripted("no", "no")
    path = tmp_path / "triage_with_map.py"
    path.write_text(MODULE)
    Path(f"{path}.map").write_text(json.dumps(SOURCE_MAP))
    spec = importlib.util.spec_from_file_location("triage_with_map", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert failed(module.ask).saft_position == "triage.saft:2:9"


def test_without_a_map_there_is_no_position(scripted: Callable[..., Scripted]) -> None:
    scripted("no", "no")
    error = failed(lambda: prompt("?", returns=int))
    assert error.saft_position is None
    assert not hasattr(error, "__notes__")


def test_a_damaged_map_hides_nothing(tmp_path: Path, scripted: Callable[..., Scripted]) -> None:
    scripted("no", "no")
    names: dict[str, Any] = {"__name__": "damaged"}
    path = tmp_path / "damaged.py"
    Path(f"{path}.map").write_text("{oops")
    exec(compile(MODULE, str(path), "exec"), names)
    assert failed(names["ask"]).saft_position is None


def test_the_nearest_mapping_before_the_column_counts() -> None:
    document = {"sources": ["a.saft"], "mappings": "AAAA,IAAI,IACJ;;IAAA"}
    assert mapped(document, 1, 0) == "a.saft:1:1"
    assert mapped(document, 1, 5) == "a.saft:1:5"
    assert mapped(document, 1, 99) == "a.saft:2:1"
    assert mapped(document, 2, 0) is None
    assert mapped(document, 9, 0) is None
