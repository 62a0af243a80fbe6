"""A run without options is done without typer, and just as it would be with it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from saftc import user_cache
from saftc.cli.fast_path import command_without_options
from tests.cli.conftest import Command

Script = Callable[[str, str], Path]

FILES = {
    "a.saft": "import sys\nprint(sys.argv)\n",
    "asks.saft": "n: int = $ how many? $\nprint(type(n))\n",
    "lib.saft": "x = 4\n",
    "uses.saft": "from lib import x\nprint(x)\n",
    "ends.saft": "import sys\nsys.exit(7)\n",
    "fails.saft": "xs = [1]\nprint(xs[2])\n",
    "warned.saft": 'if "x":\n    print("日本語")\n',
    "wrong.saft": "print(x)\n",
    "run": "print(2)\n",
}


@pytest.fixture
def files(script: Script) -> None:
    """Scripts of all kinds in the folder."""
    for name, text in FILES.items():
        script(name, text)


AT_ONCE = [
    ["a.saft"],
    ["./a.saft"],
    ["run", "a.saft"],
    ["run", "a.saft", "b", "c=d", ""],
    ["run", "a.saft", "--", "-q", "--", "--model"],
    ["a.saft", "b", "--", "--help"],
    ["run", "run"],
    ["run", "-"],
    ["run", "a.saft", "-"],
    ["asks.saft"],
    ["uses.saft"],
    ["ends.saft"],
    ["fails.saft"],
    ["warned.saft"],
    ["wrong.saft"],
    ["missing.saft"],
    ["run", "missing"],
    ["run", ""],
    ["run", "."],
    ["check", "a.saft"],
    ["check", "wrong.saft", "warned.saft"],
    ["check", "missing.saft"],
    ["check", "."],
    ["check", "-"],
    ["build", "a.saft"],
    ["build", "uses.saft", "wrong.saft"],
    ["build", "missing.saft"],
]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("words", AT_ONCE, ids=" ".join)
def test_it_is_the_same(
    saftc: Command, saftc_at_once: Command, words: list[str], folder: Path
) -> None:
    assert command_without_options(words) is not None
    environment = {"SAFT_PROVIDER": "mock"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "environ", {**os.environ, **environment})
        expected, files = saftc(*words, stdin="print(3)\n"), _contents(folder)
        for name in set(files) - set(FILES):
            (folder / name).unlink()
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        assert saftc_at_once(*words, stdin="print(3)\n") == expected
        assert _contents(folder) == files


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("words", [["run", "a.saft"], ["a.saft", "x"]], ids=" ".join)
@pytest.mark.usefixtures("files")
def test_a_provider_that_does_not_exist(
    saftc: Command, saftc_at_once: Command, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFT_PROVIDER", "opnai")
    expected = saftc(*words)
    assert expected.code == 2 and "SAFT_PROVIDER: no provider `opnai`" in expected.err
    assert saftc_at_once(*words) == expected


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["run"],
        ["run", "--"],
        ["run", "--", "a.saft"],
        ["run", "a.saft", "--usage"],
        ["run", "--usage", "a.saft"],
        ["a.saft", "-q"],
        ["-q", "a.saft"],
        ["-c", "print(1)"],
        ["--provider=x.saft"],
        ["-x.saft"],
        ["check"],
        ["check", "a.saft", "--strict"],
        ["check", "--", "a.saft"],
        ["build", "a.saft", "-o", "b.py"],
        ["build"],
        ["fmt", "a.saft"],
        ["lsp"],
        ["prompts", "a.saft"],
        ["a.txt"],
        ["--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_all_else_is_read_by_typer(words: list[str]) -> None:
    assert command_without_options(words) is None


def test_a_shell_that_completes_is_answered_by_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SAFTC_COMPLETE", "complete_bash")
    assert command_without_options(["run", "a.saft"]) is None


@pytest.mark.heavy
@pytest.mark.one_python
def test_running_what_is_compiled_loads_little(script: Script, cache: Path) -> None:
    script("loaded.py", "import sys\nprint(*sys.modules)\n")
    path = script("a.saft", "import loaded\n")
    command = [sys.executable, "-m", "saftc", path.name]
    outputs = [
        subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    loaded = set(outputs[-1].split())
    unwanted = {"typer", "libcst", "lark", "black", "openai", "concurrent", "multiprocessing"}
    # Each of these takes as long to load as all that saftc has on this way.
    unwanted |= {"dataclasses", "inspect", "ast", "importlib.abc"}
    assert "saftc" in loaded
    assert loaded & (unwanted | {"platformdirs", "traceback"}) == set()


@pytest.mark.one_python
@pytest.mark.parametrize(
    ("home", "chosen"),
    [("/home/al", None), ("/home/al", ""), ("/home/al", "/c"), ("/home/al", "c"), ("h", "/c")],
)
def test_the_cache_is_where_platformdirs_says(
    monkeypatch: pytest.MonkeyPatch, home: str, chosen: str | None
) -> None:
    from platformdirs import user_cache_path

    monkeypatch.delenv("SAFT_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", home)
    if chosen is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", chosen)
    assert user_cache.cache_folder() == user_cache_path("saftc", appauthor=False)
