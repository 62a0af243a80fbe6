"""The fixture `saft_replay`, as a user's test has it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime_support._core.hooks import load_part

pytest_plugins = "pytester"

# What a run is the first to import, pytester forgets behind it; a process of a user does not.
load_part("recordings")

Run = Callable[..., str]

ROOT = Path(__file__).parents[2]

TEST = """
from runtime_support import prompt

def test_greeting(saft_replay):
    assert "Hello" in prompt("greet {name}", name="Ada").value
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs the tests of the folder in this process, and gives what pytest says."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    plugins = ["-p", "no:cacheprovider", "-p", "runtime_support.pytest_plugin"]

    def run(*arguments: str, paths: tuple[str, ...] = (str(tmp_path),), **variables: str) -> str:
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            for name, value in {"SAFT_PROVIDER": "mock", **variables}.items():
                patch.setenv(name, value)
            result = pytester.runpytest_inprocess("-q", *plugins, *paths, *arguments)
        return result.stdout.str()

    return run


def test_recordings_stand_beside_the_test(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mail.py").write_text(TEST)
    recording = tmp_path / "recordings" / "test_mail.test_greeting.jsonl"
    missed = run()
    assert "ReplayMiss" in missed and "1 failed" in missed
    assert "1 passed" in run("--saft-record")
    assert recording.read_text().count("\n") == 1
    assert "1 passed" in run()

    (tmp_path / "test_mail.py").write_text(TEST.replace("greet {name}", "greet {name}!"))
    assert "1 failed" in run()
    unused = run("--saft-record")
    assert "1 unused entry in" in unused
    assert "delete its line, or `pytest --saft-record=all` records the test anew" in unused
    assert "1 passed" in run("--saft-record=all")
    assert recording.read_text().count("\n") == 1


TEST_OF_TWO_AT_ONCE = """
import threading
from runtime_support import Reply, configure, overlap, prompt

both = threading.Barrier(2)

class Meeting:
    def complete(self, request):
        both.wait(3)
        return Reply("hello")

def test_greetings(saft_replay):
    with configure(provider=Meeting()):
        assert [*overlap(lambda name: prompt("greet {name}", name=name).value, ["a", "b"])]
"""


@pytest.mark.parametrize("option", ["--saft-record", "--saft-record=all"])
def test_a_first_recording_asks_at_once(option: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mail.py").write_text(TEST_OF_TWO_AT_ONCE)
    assert "1 passed" in run(option)
    assert "1 passed" in run()


TEST_THAT_CATCHES = """
from runtime_support import prompt

def greet(name):
    try:
        return prompt("greet {name}", name=name).value
    except EXCEPTION:
        return "nobody"

def test_greeting(saft_replay):
    assert greet("Ada")
"""


@pytest.mark.parametrize("caught", ["Exception", "BaseException"])
def test_a_miss_fails_the_test_whatever_is_caught(
    caught: str, run: Run, tmp_path: Path
) -> None:
    test = TEST_THAT_CATCHES.replace("EXCEPTION", caught)
    (tmp_path / "test_mail.py").write_text(test)
    assert "1 passed" in run("--saft-record")
    assert "1 passed" in run()
    (tmp_path / "test_mail.py").write_text(test.replace("greet {name}", "greet {name}!"))
    missed = run()
    assert "1 failed" in missed and "error" not in missed.splitlines()[-1]
    assert r"""greet \"Ada\"!""" in missed
    assert "`pytest --saft-record` records what is missing" in missed
    assert "1 passed" in run("--saft-record")
    assert "1 passed" in run()


@pytest.mark.parametrize("caught", ["Exception", "BaseException"])
def test_a_damaged_recording_fails_the_test_whatever_is_caught(
    caught: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "test_mail.py").write_text(TEST_THAT_CATCHES.replace("EXCEPTION", caught))
    assert "1 passed" in run("--saft-record")
    recording = tmp_path / "recordings" / "test_mail.test_greeting.jsonl"
    recording.write_text("<<<<<<< HEAD\n" + recording.read_text())
    damaged = run()
    assert "1 passed" not in damaged and f"{recording}:1: not JSON" in damaged


TEST_OF_SIGNS = """
import pytest
from runtime_support import prompt

@pytest.mark.parametrize("sign", ["+", "*"])
def test_sign(saft_replay, sign):
    assert prompt("explain {sign}", sign=sign).value
"""


@pytest.mark.parametrize("option", ["--saft-record", "--saft-record=all"])
def test_two_tests_do_not_share_a_recording(option: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mail.py").write_text(TEST_OF_SIGNS)
    shared = run(option)
    assert "1 passed, 1 error" in shared
    assert "test_mail.py::test_sign[+] has the same recording, test_mail.test_sign.jsonl" in shared
    named = TEST_OF_SIGNS.replace('"*"]', '"*"], ids=["plus", "times"]')
    (tmp_path / "test_mail.py").write_text(named)
    assert "2 passed" in run(option)
    assert "2 passed" in run()


TEST_OF_THE_NETWORK = """
import pytest, socket
from runtime_support import prompt

@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.1", "example.invalid"])
def test_out(saft_replay, host):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        socket.create_connection((host, server.getsockname()[1]), timeout=5).close()
"""


def test_nothing_leaves_the_machine_while_replaying(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mail.py").write_text(TEST_OF_THE_NETWORK)
    refused = run()
    assert "2 failed, 1 passed" in refused
    for host in ("192.0.2.1", "example.invalid"):
        assert f"NetworkRefused: saft_replay: {host} is another machine" in refused


COMPILED = (ROOT / "tests" / "goldens" / "triage.py").read_text(encoding="utf-8")

TEST_OF_A_COMPILED_MODULE = """
import pytest
from runtime_support import configure
from runtime_support.testing import Scripted
from triage import Ticket, main, triage

TICKET = '{"title": "%s", "severity": "low", "tags": [], "reply_by": null}'

class TestTriage:
    @pytest.mark.parametrize("mail", ["My invoice is wrong", "The server is on fire!"])
    def test_it(self, saft_replay, mail):
        ticket = triage(mail)
        assert isinstance(ticket, Ticket)
        assert ticket.severity in ("low", "medium", "high")

def test_main(saft_replay, capsys):
    configure(provider=Scripted([TICKET % "Invoice", "true", TICKET % "Fire", "false"]))
    main()
    assert "to accounting: Invoice" in capsys.readouterr().out
"""


def test_a_compiled_module_is_tested_without_a_model(run: Run, tmp_path: Path) -> None:
    (tmp_path / "triage.py").write_text(COMPILED)
    (tmp_path / "test_triage.py").write_text(TEST_OF_A_COMPILED_MODULE)
    assert "3 passed" in run("--saft-record")
    names = sorted(path.name for path in (tmp_path / "recordings").iterdir())
    assert names == [
        "test_triage.TestTriage.test_it_My_invoice_is_wrong.jsonl",
        "test_triage.TestTriage.test_it_The_server_is_on_fire.jsonl",
        "test_triage.test_main.jsonl",
    ]
    assert "3 passed" in run(SAFT_PROVIDER="unset")
    assert "3 passed" in run(SAFT_PROVIDER="unset", SAFT_RECORD="elsewhere.jsonl")
    assert not (tmp_path / "elsewhere.jsonl").exists()

    (tmp_path / "triage.py").write_text(COMPILED.replace("fill in a ticket", "fill in one"))
    changed = run()
    assert "3 failed" in changed
    assert '+   "content": "Read this mail and fill in one:' in changed


def test_the_plugin_costs_little_where_it_is_not_used() -> None:
    script = "import sys, pytest; import runtime_support.pytest_plugin; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    ours = {name for name in done.stdout.split() if name.startswith("runtime_support")}
    assert ours == {
        *("runtime_support", "runtime_support._values", "runtime_support._values.lazy"),
        "runtime_support.pytest_plugin",
    }


def test_neither_the_model_nor_the_folder_of_the_reader_matters(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    (project / "pyproject.toml").write_text("[tool.saft]\nmodel = 'ours'\ntemperature = 0.5\n")
    (project / "tests" / "test_mail.py").write_text(TEST)
    assert "1 passed" in run("--saft-record", SAFT_MODEL="mine")
    assert "1 passed" in run()
    assert "1 passed" in run(SAFT_MODEL="yours")
    recording = project / "tests" / "recordings" / "test_mail.test_greeting.jsonl"
    request = json.loads(recording.read_text())["request"]
    assert "model" not in request
    assert request["options"] == {"temperature": 0.5}


def test_a_miss_says_how_it_is_recorded(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mail.py").write_text(TEST)
    missed = run()
    assert "there is no recording" in missed
    assert "`pytest --saft-record` records what is missing" in missed


def test_the_traceback_of_an_error_ends_in_the_code_of_the_user(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mail.py").write_text(TEST)
    short, full = run(), run("--full-trace")
    assert "test_mail.py:5: ReplayMiss" in short
    assert "_recordings.py" not in short
    assert "_recordings.py" in full


def test_a_path_behind_the_option_is_a_path(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_mail.py").write_text(TEST)
    (tmp_path / "test_other.py").write_text("def test_other(): assert False\n")
    assert "1 passed" in run("--saft-record", str(tmp_path / "test_mail.py"), paths=())
    assert "1 passed" in run("--saft-record=all", str(tmp_path / "test_mail.py"), paths=())
    assert "1 passed" in run("--saft-record=none", str(tmp_path / "test_mail.py"), paths=())
