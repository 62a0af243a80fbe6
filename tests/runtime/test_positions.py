"""Errors of prompts carry their position in the script."""

from __future__ import annotations

import importlib.util
import json
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime_support import ContractError, SaftError, prompt
from runtime_support._core.hooks import PromptRun
from runtime_support._core.positions.frames import Place
from runtime_support._core.positions.source_maps import original_position
from runtime_support._core.results import Usage
from runtime_support._core.settings import Settings
from runtime_support._core.spending import UsageMeter
from runtime_support._observability.tracing import add_observer
from runtime_support.testing import Scripted
from tests.support.maps import LineMap

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
    scripted("no", "no")
    names: dict[str, Any] = {"__saft_source_map__": LineMap(), "__name__": "triage"}
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
    assert original_position(document, 1, 0) == "a.saft:1:1"
    assert original_position(document, 1, 5) == "a.saft:1:5"
    assert original_position(document, 1, 99) == "a.saft:2:1"
    assert original_position(document, 2, 0) is None
    assert original_position(document, 9, 0) is None


DAMAGED: list[dict[str, Any]] = [
    {"version": 3, "sources": ["x.saft"], "mappings": "!!!"},
    {"version": 3, "sources": ["x.saft"], "mappings": None},
    {"version": 3, "sources": None, "mappings": "AAAA;AAAA;AAAA;AAAA"},
    {"version": 3, "sources": [None], "mappings": ["AAAA"]},
    {"version": 3, "sources": ["x.saft"], "mappings": ";;;é"},
    {"version": 3},
]


@pytest.mark.parametrize("source_map", DAMAGED)
def test_a_map_with_damaged_contents_hides_nothing(
    source_map: dict[str, Any], scripted: Callable[..., Scripted]
) -> None:
    scripted("no", "no")
    names: dict[str, Any] = {"__saft_source_map__": source_map, "__name__": "damaged"}
    exec(compile(MODULE, "damaged.py", "exec"), names)
    assert failed(names["ask"]).saft_position is None


def test_a_lookup_that_fails_hides_nothing_and_is_told_once(
    scripted: Callable[..., Scripted], capsys: pytest.CaptureFixture[str]
) -> None:
    class Lookup:
        def position(self, line: int, column: int) -> str:
            raise KeyError(line)

    scripted(*["no"] * 4)
    names: dict[str, Any] = {"__saft_source_map__": Lookup(), "__name__": "damaged"}
    exec(compile(MODULE, "failing_lookup.py", "exec"), names)
    assert failed(names["ask"]).saft_position is None
    assert failed(names["ask"]).saft_position is None
    assert capsys.readouterr().err == (
        "saftc: the places of failing_lookup.py in its script cannot be looked up: KeyError: 4\n"
    )


def test_a_source_that_is_not_there_is_a_question_mark() -> None:
    assert original_position({"sources": [], "mappings": "AAAA"}, 1, 0) == "?:1:1"
    assert original_position({"sources": ["a.saft"], "mappings": "ADAA"}, 1, 0) == "?:1:1"


def in_script(text: str) -> dict[str, Any]:
    """The names of a module compiled in memory whose line N is line N of `place.saft`."""
    mappings = ";".join(["AAAA", *["AACA"] * 20])
    source_map = {"version": 3, "sources": ["place.saft"], "mappings": mappings}
    names: dict[str, Any] = {"__saft_source_map__": source_map, "__name__": "place"}
    exec(compile(text, "place.py", "exec"), names)
    return names


IN_THREAD = """from concurrent.futures import ThreadPoolExecutor
from runtime_support import prompt
from runtime_support._core.positions.frames import context_of_call

def ask():
    with ThreadPoolExecutor() as pool:
        return pool.submit(context_of_call().run, prompt, "a number", returns=int).result()
"""


def test_a_thread_knows_the_place_of_the_call_it_works_for(
    scripted: Callable[..., Scripted],
) -> None:
    scripted("no", "no")
    places: set[str] = set()
    remove = add_observer(lambda event: places.add(event["place"]))
    try:
        assert failed(in_script(IN_THREAD)["ask"]).saft_position == "place.saft:7:1"
    finally:
        remove()
    assert places == {"place.saft:7:1"}


def test_a_thread_of_python_knows_the_line_of_the_call_it_works_for(
    scripted: Callable[..., Scripted],
) -> None:
    scripted("1")
    places: set[str] = set()
    remove = add_observer(lambda event: places.add(event["place"]))
    names: dict[str, Any] = {"__name__": "plain"}
    exec(compile(IN_THREAD, "plain.py", "exec"), names)
    try:
        assert names["ask"]().value == 1
    finally:
        remove()
    assert places == {"plain.py:7"}


class _LongCode:
    """Stands for the code of a long module: looking into it is counted, its hash is refused."""

    co_firstlineno, co_filename, co_qualname = 1, "long.py", "<module>"
    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.looked_at = 0

    def co_positions(self) -> Iterator[tuple[int, int, int, int]]:
        for line in range(1, 5_001):
            self.looked_at += 1
            yield line, line, 0, 9


def test_a_place_is_looked_up_once_however_long_its_module() -> None:
    code: Any = _LongCode()
    spending = UsageMeter()
    for _ in range(3):
        place = Place(code, 2 * 99, {})
        assert place.text() == "long.py:100"
        spending.add(PromptRun(Settings(), place), "", Usage(requests=1))
    assert code.looked_at == 100
    assert len(spending.taken()) == 1
