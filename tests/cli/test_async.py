"""`saftc build --async`: both forms beside each other, and what only the one or the other takes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime_support import configure
from runtime_support.testing import Scripted
from tests.cli.conftest import Command

Script = Callable[[str, str], Path]

ASKING = """\
from words import loud, named

name = named("a town")
print(loud(name))
"""
WORDS = """\
f loud(text: string) -> string:
    ret upper(text)

f named(what: string) -> string:
    ret $ Name {what}. $
"""
IMPORTING = """\
from style import tone

print(tone)
"""


def test_siblings_are_of_the_same_form(saftc: Command, script: Script, folder: Path) -> None:
    script("words.saft", WORDS)
    script("asking.saft", ASKING)
    assert saftc("build", "--async", "asking.saft").code == 0
    words, asking = (folder / "words.py").read_text(), (folder / "asking.py").read_text()
    assert "\nasync def named(what: str) -> str:\n" in words
    assert "\ndef loud(text: str) -> str:\n" in words
    assert '\nasync def main() -> None:\n    name = await named("a town")\n' in asking
    # What the cache has of one form is not taken for the other.
    assert saftc("build", "asking.saft").code == 0
    assert "async" not in (folder / "words.py").read_text() + (folder / "asking.py").read_text()


def test_what_is_built_is_compared_in_its_form(saftc: Command, script: Script) -> None:
    script("words.saft", WORDS)
    saftc("build", "--async", "words.saft")
    assert saftc("build", "--async", "--check", "words.saft").code == 0
    assert "+def named" in saftc("build", "--diff", "words.saft").out
    saftc("build", "words.saft")
    ended = saftc("build", "--async", "--check", "words.saft")
    assert ended.code == 1
    assert ended.err == "words.py is out of date: run `saftc build --async words.saft`\n"


def test_a_function_is_awaited_by_python(
    saftc: Command, script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script("words.saft", WORDS)
    saftc("build", "--async", "words.saft", "-o", "awaited_words.py")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "awaited_words", raising=False)
    import awaited_words  # pyright: ignore[reportMissingImports]

    async def both() -> list[str]:
        return await asyncio.gather(awaited_words.named("a"), awaited_words.named("b"))

    with configure(provider=Scripted(["Oslo", "Rome"])):
        assert sorted(asyncio.run(both())) == ["Oslo", "Rome"]


def test_a_plan_of_unknown_type_is_awaited(
    saftc: Command, script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(
        "planning.saft",
        """f act(x: int) -> int:
    ret x + 1
f make() -> program:
    ret program $ {act} $
f go(p: any) -> any:
    ret run(p)
f every(plan: any) -> [any]:
    ps: [any] = [plan]
    g = run
    ret [run(plan), run(ps[0]), run(plan: ps[0]), go(plan), g(plan), [r(plan) for r in [run]]]
""",
    )
    assert saftc("build", "--async", "planning.saft").code == 0
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "planning", raising=False)
    import planning  # pyright: ignore[reportMissingImports]

    async def go() -> list[object]:
        return await planning.every(await planning.make())

    with configure(provider=Scripted(['{"act": {"x": 1}}'])):
        assert asyncio.run(go()) == [2, 2, 2, 2, 2, [2]]


def test_an_import_cannot_wait(saftc: Command, script: Script, folder: Path) -> None:
    script("style.saft", "tone = $ Name a tone. $\n")
    script("importing.saft", IMPORTING)
    ended = saftc("build", "--async", "importing.saft")
    assert ended.code == 1
    assert ended.err.startswith("error[SAFT0503]: with --async, `style` cannot be imported")
    assert not (folder / "importing.py").exists()
    assert saftc("build", "importing.saft").code == 0


def test_a_plan_has_no_such_form(saftc: Command, script: Script) -> None:
    script("plan.json", "1\n")
    ended = saftc("build", "--async", "plan.json", "--tools", "math")
    assert (ended.code, ended.err) == (2, "saftc: --async is for scripts\n")
