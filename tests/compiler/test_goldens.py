"""The modules written by hand as the standard come out to the letter."""

import pytest

from tests.compiler.support import GOLDENS, LATER_GOLDENS, compile_text, supported_goldens


@pytest.mark.parametrize("name", supported_goldens())
def test_golden(name: str) -> None:
    script = (GOLDENS / f"{name}.saft").read_text(encoding="utf-8")
    compiled = compile_text(script, f"{name}.saft")
    assert not compiled.checked.diagnostics
    assert compiled.text == (GOLDENS / f"{name}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(LATER_GOLDENS))
def test_later_golden_is_not_forgotten(name: str) -> None:
    script = (GOLDENS / f"{name}.saft").read_text(encoding="utf-8")
    expected = (GOLDENS / f"{name}.py").read_text(encoding="utf-8")
    try:
        text = compile_text(script, f"{name}.saft").text
    except NotImplementedError:
        return
    assert text != expected, "it holds by now: take it off the list in support.py"
