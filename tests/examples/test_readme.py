"""What README and docs/ say: every block compiles or runs, and every option stands there."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from runtime_support._core.settings import Settings
from runtime_support._core.settings.checks import checked_option
from saftc.cli.app import app
from saftc.driver import compile_source
from saftc.source import Source

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]
PAGES = (
    *("README.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("docs/commands.md", "docs/configuration.md", "docs/scale.md"),
    *("examples/README.md", "examples/recordings/README.md"),
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADER = re.compile(r"# Compiled by saftc from (\w+)\.saft; edit that file instead\.\n")
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@dataclass(frozen=True)
class Block:
    """A fenced block; `following` is the one after it on its page."""

    page: str
    line: int
    language: str
    text: str
    following: "Block | None"

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    found: list[Block] = []
    for page in PAGES:
        text = (ROOT / page).read_text("utf-8")
        following = None
        for match in reversed(list(_FENCE.finditer(text))):
            line = text.count("\n", 0, match.start()) + 1
            following = Block(page, line, match[1], match[2], following)
            found.insert(0, following)
    return [block for block in found if block.language in languages]


def each(*languages: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("block", blocks(*languages), ids=str)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the examples, build/, and the modules that a page shows."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / "build", tmp_path / "build")
    for block in blocks("python"):
        if header := _HEADER.match(block.text):
            (tmp_path / f"{header[1]}.py").write_text(block.text)
    return tmp_path


def run(place: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        cwd=place,
        env={**os.environ, "SAFT_PROVIDER": "mock", "PATH": path, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        # As on a terminal, so that pages show what a reader will see.
        stderr=subprocess.STDOUT,
        text=True,
    )


def compiled(block: Block, name: str = "page") -> str:
    result = compile_source(Source.from_text(f"{name}.saft", block.text))
    assert result.checked.diagnostics == ()
    assert result.text is not None
    return result.text


def test_no_block_is_left_out() -> None:
    assert blocks("saft") and blocks("sh") and blocks("python")
    everything = [
        match[1] for page in PAGES for match in _FENCE.finditer((ROOT / page).read_text())
    ]
    assert set(everything) == {"saft", "sh", "python", "text", "toml"}


@each("saft")
def test_scripts_compile_and_run(block: Block, place: Path) -> None:
    (place / "page.py").write_text(compiled(block))
    done = run(place, sys.executable, "page.py")
    assert done.returncode == 0, done.stdout


@each("python")
def test_a_shown_module_is_what_saftc_writes(block: Block) -> None:
    if header := _HEADER.match(block.text):
        scripts = [one for one in blocks("saft") if one.page == block.page]
        assert block.text in [compiled(script, header[1]) for script in scripts]


@each("python")
def test_python_runs(block: Block, place: Path) -> None:
    done = run(place, sys.executable, "-c", block.text)
    assert done.returncode == 0, done.stdout


@pytest.mark.heavy
@each("sh")
def test_commands_give_the_output_below_them(block: Block, place: Path) -> None:
    if block.text.startswith("make "):
        pytest.skip("run by hand and by the checks")
    done = run(place, "bash", "-c", block.text.replace(".venv/bin/", ""))
    shown = block.following
    if shown and shown.language == "text":
        assert done.stdout == shown.text
    else:
        assert done.returncode == 0, done.stdout


@each("toml")
def test_settings_of_projects_and_users_exist(block: Block) -> None:
    said = tomllib.loads(block.text)
    for name, value in said["tool"]["saft"].items() if "tool" in said else said.items():
        checked_option(name, value, "page")


def test_every_setting_is_told() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/configuration.md").read_text(), re.MULTILINE)
    assert rows == [setting.name for setting in fields(Settings)]


def options_of(command: Any) -> set[str]:
    """The options of a command, and of the commands inside of it."""
    spelled = [(*one.opts, *one.secondary_opts) for one in command.params]
    named = {option for options in spelled for option in options}
    own = {option for option in named if option.startswith("-")} - {"-h", "--help"}
    return own.union(*map(options_of, getattr(command, "commands", {}).values()))


def test_the_overview_has_every_command() -> None:
    text = (ROOT / "README.md").read_text()
    rows = [row for row in text.splitlines() if row.startswith("| `saftc ")]
    named = {name for row in rows for name in re.findall(r"`saftc ([a-z]+)\b", row.split("|")[1])}
    assert named == set(get_command(app).commands)


def test_every_command_and_option_is_told() -> None:
    text = (ROOT / "docs/commands.md").read_text()
    # What a command prints, such as a difference, names no options.
    text = re.sub(r"^```text\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    commands = get_command(app).commands
    sections = dict(
        re.findall(r"^## saftc (\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    )
    assert set(sections) == set(commands)
    for name, command in commands.items():
        # Letters and dashes: the `--` before a script's own arguments is no option.
        told = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", sections[name]))
        assert told == options_of(command), name


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in _LINK.findall((ROOT / page).read_text()):
            assert (ROOT / page).parent.joinpath(link).exists(), f"{page}: {link}"


def test_every_example_is_listed() -> None:
    listed = re.findall(r"\]\((\w+)\.saft\)", (ROOT / "examples/README.md").read_text())
    assert sorted(listed) == sorted(script.stem for script in (ROOT / "examples").glob("*.saft"))


def test_the_first_script_is_the_one_that_is_run() -> None:
    for page in ("README.md", "docs/index.md"):
        text = (ROOT / page).read_text("utf-8")
        script, output, *_ = _FENCE.findall(text)
        assert script == ("saft", (ROOT / "examples" / "hello.saft").read_text("utf-8")), page
        printed = (ROOT / "examples" / "recordings" / "hello.txt").read_text("utf-8")
        assert output == ("text", printed), page
        # Who it is for, and the second command, are in the first screens.
        assert text.index("It is for Python developers") < text.index("```saft")
        assert text.index("make demo") < text.index("saftc play") < text.index("**Typed answers**")
    demo = (ROOT / "Makefile").read_text("utf-8").partition("\ndemo:")[2].partition("\n\n")[0]
    assert "examples/hello.saft" in demo and "saftc play" in demo


def test_there_are_two_commands_to_set_up() -> None:
    commands = [block.text.strip() for block in blocks("sh") if block.page == "README.md"]
    assert commands[:2] == ["make demo", "make test"]
    assert not any(re.search(r"\b(pip|activate|venv create)\b", text) for text in commands)
