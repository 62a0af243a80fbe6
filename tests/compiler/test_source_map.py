"""Source maps as another decoder reads them, and what `python out.py` makes of them."""

import ast
import json
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import sourcemap

from runtime_support._core.positions.uncaught import position_of_error
from saftc.codegen.source_map import render_source_map
from saftc.driver import Compiled
from tests.compiler.support import compile_text
from tests.compiler.test_positions import FAILING

pytestmark = pytest.mark.one_python

_Modules = Mapping[str, Compiled]


def _map(compiled: Compiled) -> str:
    assert compiled.module is not None
    return render_source_map(compiled.checked.source, compiled.module, "out.py")


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.heavy
def test_another_decoder_finds_every_mapping(modules: _Modules) -> None:
    for name, compiled in modules.items():
        assert compiled.module is not None
        source, text = compiled.checked.source, compiled.module.text
        lines = text.split("\n")
        decoded = sourcemap.loads(_map(compiled))
        found = {(t.dst_line, t.dst_col): (t.src_line, t.src_col) for t in decoded}
        expected: dict[tuple[int, int], tuple[int, int]] = {}
        for mapping in compiled.module.origins.map(text):
            written = lines[mapping.line - 1].encode()[: mapping.column].decode()
            line, column = source.position(mapping.span.start)
            read = source.line_text(line)[: column - 1]
            expected[mapping.line - 1, _units(written)] = (line - 1, _units(read))
        assert found == expected, name


def test_the_map_names_the_script_and_the_module() -> None:
    data = json.loads(_map(compile_text("x = 1\n")))
    assert (data["version"], data["file"], data["sources"]) == (3, "out.py", ["in.saft"])


@pytest.mark.parametrize("name", FAILING)
def test_an_uncaught_error_of_the_module_points_into_the_script(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked = FAILING[name]
    before = marked[: marked.index("«")]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    compiled = compile_text(marked.replace("«", "").replace("»", "") + "\n")
    assert compiled.text is not None
    module = tmp_path / "out.py"
    module.write_text(compiled.text, encoding="utf-8")
    Path(f"{module}.map").write_text(_map(compiled), encoding="utf-8")
    monkeypatch.setenv("SAFT_PROVIDER", "unset")
    with pytest.raises(BaseException) as caught:
        runpy.run_path(str(module), run_name="__main__")
    assert position_of_error(caught.value, caught.tb) == f"in.saft:{line}:{column}"


@pytest.mark.heavy
def test_the_module_names_neither_its_map_nor_the_machine(modules: _Modules) -> None:
    for compiled in modules.values():
        assert compiled.text is not None
        ast.parse(compiled.text)
        assert "sourceMappingURL" not in compiled.text and sys.executable not in compiled.text
