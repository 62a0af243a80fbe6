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
    assert saftc("build", "asking.saft", "--force").code == 0
    assert "async" not in (folder / "words.py").read_text() + (folder / "asking.py").read_text()


def test_what_is_built_is_compared_in_its_form(saftc: Command, script: Script) -> None:
    script("words.saft", WORDS)
    saftc("build", "--async", "words.saft")
    assert saftc("build", "--async", "--check", "words.saft").code == 0
    assert "+def named" in saftc("build", "--diff", "words.saft").out
    saftc("build", "--force", "words.saft")
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


def test_neither_form_overwrites_the_other(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("words.saft", WORDS)
    script("asking.saft", ASKING)
    assert saftc("build", "asking.saft").code == 0
    before = {path.name: path.read_text() for path in folder.glob("*.py")}
    ended = saftc("build", "--async", "asking.saft", "-o", "service.py")
    assert ended.code == 1
    assert ended.err.endswith(
        "words.py is the plain form of words.saft; --suffix _async gives the async modules other "
        "names, --force overwrites it\n"
    )
    assert {path.name: path.read_text() for path in folder.glob("*.py")} == before
    assert saftc("build", "--async", "asking.saft", "-o", "service.py", "--force").code == 0
    ended = saftc("build", "words.saft")
    assert (ended.code, "words.py is the async form of words.saft" in ended.err) == (1, True)


def test_both_forms_side_by_side(
    saftc: Command, script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script("flows/__init__.py", "")
    script("flows/words.saft", "type Word(text: string)\n" + WORDS)
    script("flows/made.saft", "from .words import Word\nf word() -> Word:\n    ret Word($ hi $)\n")
    script(
        "flows/asking.saft",
        "from . import words\nfrom .words import loud as loudly, named\nfrom .made import word\n"
        "from flows.words import named as by_whole_name\n"
        "f ask(what: string) -> string:\n"
        "    found = word()\n"
        "    ret loudly(named(what)) + words.loud(by_whole_name(found.text))\n"
        "f again():\n    x = word()\n    ret x\n",
    )
    assert saftc("build", "flows").code == 0
    assert saftc("build", "flows", "--async", "--suffix", "_async").code == 0
    assert saftc("build", "flows", "--check").code == 0
    assert saftc("build", "flows", "--async", "--suffix", "_async", "--check").code == 0
    text = (folder / "flows/asking_async.py").read_text()
    assert "from flows.words_async import named as by_whole_name\n" in text
    assert "from . import words_async as words\n" in text
    assert "from .made_async import word\n" in text
    monkeypatch.syspath_prepend(folder)
    from flows import asking, asking_async  # type: ignore[import-not-found]

    with configure(provider=Scripted(["w", "a town", "b"] * 2)):
        assert asking.ask("x") == "A TOWNB"
        assert asyncio.run(asking_async.ask("x")) == "A TOWNB"


def test_a_script_without_prompts_has_one_module_for_both_forms(
    saftc: Command, script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script("twofold/__init__.py", "")
    script("twofold/kinds.saft", 'type Word(text: string)\ntype Pair = {a: Word, b: Word}\n')
    script("twofold/tools.saft", "from .kinds import Word\nf loud(w: Word) -> Word:\n    ret w\n")
    script(
        "twofold/asking.saft",
        "from .kinds import Word\nfrom . import tools\n"
        "f ask(what: string) -> Word:\n    ret tools.loud(Word($ Ask {what} $))\n"
        "f pair(what: string):\n    ret tools.loud(ask(what))\n",
    )
    script("twofold/passing.saft", "from .asking import ask\nf name(n: int) -> int:\n    ret n\n")
    both = ("build", "twofold", "--async", "--suffix", "_async")
    assert saftc(*both).code == 0
    assert saftc("build", "twofold").code == 0
    assert saftc("build", "twofold", "--check").code == 0
    assert saftc(*both, "--check").code == 0
    assert sorted(path.name for path in (folder / "twofold").glob("*.py")) == [
        "__init__.py",
        *("asking.py", "asking_async.py", "kinds.py", "passing.py", "passing_async.py", "tools.py"),
    ]
    assert "async form" not in (folder / "twofold/kinds.py").read_text()
    monkeypatch.syspath_prepend(folder)
    from twofold import (  # type: ignore[import-not-found]
        asking,
        asking_async,
        kinds,
        passing,
        passing_async,
    )

    with configure(provider=Scripted(["a", "a"])):
        one, other = asking.ask("x"), asyncio.run(asking_async.pair("x"))
    assert (one, type(other)) == (other, kinds.Word)
    assert (passing.ask, passing_async.ask) == (asking.ask, asking_async.ask)


def test_the_async_module_of_a_script_that_no_longer_prompts_goes(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("lib.saft", "f ask(a: string) -> string:\n    ret $ Ask {a} $\n")
    script("top.saft", 'from lib import ask\nf z() -> string:\n    ret ask("z")\n')
    both = ("build", "lib.saft", "top.saft", "--async", "--suffix", "_async")
    assert saftc(*both).code == 0
    script("lib.saft", "f ask(a: string) -> string:\n    ret a\n")
    for stale in ("lib_async.py", "top_async.py"):
        checked = saftc(*both, "--check")
        assert checked.code == 1
        assert f"{stale} is out of date" in checked.err
    # A module that somebody else has written is left alone.
    (folder / "top_async.py").write_text("mine = 1\n")
    ended = saftc(*both)
    assert ended.code == 0
    assert "lib_async.py removed: lib.saft has no async form any more" in ended.err
    assert not (folder / "lib_async.py").exists()
    assert (folder / "top_async.py").read_text() == "mine = 1\n"
    assert saftc(*both, "--check").code == 0


def test_a_suffix_that_cannot_be(saftc: Command, script: Script) -> None:
    script("words.saft", WORDS)
    script("lib/words.saft", WORDS)
    script("asking.saft", "import lib.words\nprint(lib.words.loud($ hi $))\n")
    assert saftc("build", "words.saft", "--suffix", "_async").code == 2
    assert saftc("build", "words.saft", "--async", "--suffix", "-async").code == 2
    ended = saftc("build", "asking.saft", "--async", "--suffix", "_async")
    assert ended.code == 1
    assert "write `from lib import words`" in ended.err
