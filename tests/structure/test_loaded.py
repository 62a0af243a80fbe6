"""What is loaded: of the runtime by a prompt, and of all packages by a command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.structure import measures
from tests.structure.modules import modules
from tests.support.fake_server import Answer, FakeServer, calling, completion, streamed

pytestmark = [pytest.mark.one_python, pytest.mark.heavy]


class Prompt(NamedTuple):
    """What a compiled module does, and what a server answers to it."""

    code: str
    answers: list[Answer]


TOOL = """
def double(number: int) -> int:
    {body}

prompt("What is twice 4? Use {{double}}.", double=double, returns=int).value
"""

PROMPTS = {
    "a plain prompt": Prompt('prompt("How are you?").value', [completion("Fine.")]),
    "a typed one": Prompt('prompt("How many?", returns=int).value', [completion('{"value": 4}')]),
    "a prompt for fields": Prompt(
        'prompt("Who?", fields={"name": str, "age": int}).fields',
        [completion('{"name": "Al", "age": 4}')],
    ),
    "a typed one with a tool": Prompt(
        TOOL.format(body="return 2 * number"),
        [calling(("double", {"number": 4})), completion('{"value": 8}')],
    ),
    "a repair": Prompt(
        'prompt("How many?", returns=int).value',
        [completion('{"value": "many"}'), completion('{"value": 4}')],
    ),
    "a tool that fails": Prompt(
        TOOL.format(body='raise ValueError("no")'),
        [calling(("double", {"number": 4})), completion('{"value": 8}')],
    ),
    "a stream": Prompt(
        'list(prompt("Tell a story.", stream=True).pieces())', [streamed("Once ", "upon")]
    ),
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    folder = tmp_path_factory.mktemp("loaded")
    return {kind: _loaded_by(prompt, folder) for kind, prompt in PROMPTS.items()}


def test_a_prompt_loads_no_more(loaded: dict[str, set[str]], updates_budget: bool) -> None:
    numbers = {
        kind: sum(modules()[name].statements for name in names) for kind, names in loaded.items()
    }
    measures.hold("loaded", numbers, measures.BUDGET, updates_budget)


@pytest.mark.parametrize("kind", [kind for kind in PROMPTS if kind != "a stream"])
def test_a_prompt_loads_no_part(kind: str, loaded: dict[str, set[str]]) -> None:
    """What it needs is the core, and who sends it."""
    core = {"__init__", "errors", "_values", "_schema", "_language", "_core", "providers"}
    rooms = {measures.room(name).split("/")[1] for name in loaded[kind]}
    assert rooms - core == set()


def _loaded_by(prompt: Prompt, folder: Path) -> set[str]:
    program = (
        "from runtime_support import prompt\nimport sys\n"
        f"{prompt.code}\n"
        "print(*(name for name in sys.modules if name.startswith('runtime_support')))"
    )
    with FakeServer() as server:
        server.answers = list(prompt.answers)
        environment = {
            **{name: one for name, one in os.environ.items() if not name.startswith("SAFT_")},
            "SAFT_BASE_URL": server.url,
            "SAFT_MODEL": "fake",
            "OPENAI_API_KEY": "sk-test-0123456789abcdefghij",
        }
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert len(server.requests) == len(prompt.answers)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["check", "in.saft"], {"libcst", "black", "openai", "runtime_support"}),
        (["--help"], {"lark", "black", "openai", "runtime_support"}),
        (["--version"], {"lark", "black", "openai", "runtime_support"}),
        (["build", "in.saft", "-o", "-"], {"openai", "runtime_support", "pygls", "lsprotocol"}),
        (["prompts", "in.saft"], {"openai", "polars"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_loads_only_what_it_needs(
    arguments: list[str], unwanted: set[str], tmp_path: Path
) -> None:
    (tmp_path / "in.saft").write_text('x: int = $ how many? $\nprint(x, "one")\n')
    program = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*{n.split('.')[0] for n in sys.modules}, file=sys.stderr))\n"
        f"sys.argv = ['saftc', *{arguments!r}]\n"
        "from saftc.cli.app import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines()[-1].split())
    assert loaded & unwanted == set()


def test_an_unchanged_script_runs_without_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "in.saft").write_text("print(1)\n")
    program = (
        "import sys, atexit, os\n"
        "sys.argv = ['saftc', 'run', 'in.saft']\n"
        "from saftc.cli.fast_path import command_without_options\n"
        "assert command_without_options(sys.argv[1:])() == 0\n"
        "print(*sys.modules)\n"
    )
    environment = {**os.environ, "SAFT_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "saftc.cli.commands.run" in loaded
    compiler = ("saftc.syntax", "saftc.infer", "saftc.codegen", "saftc.driver")
    assert loaded & {"typer", "lark", "libcst", "black", *compiler} == set()
