"""Who is measured: ours, and what one would use instead.

The peers are installed into an environment of their own under `.peers/`, once; openai and httpx2 in
the versions that ours runs on. A peer that cannot be installed is left out with a note.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parent
HOME = HERE / ".peers"
BAML = "0.226.3"
PYDANTIC_AI = "2.68.0"


@dataclass(frozen=True, slots=True)
class Peer:
    """A program in `implementations/`, the Python to run it with, and what it imports."""

    name: str
    script: str
    python: str
    paths: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Peers:
    """Those that could be installed, by name, ours first; `notes` say who was left out and why."""

    found: Mapping[str, Peer]
    notes: list[str] = field(default_factory=list)

    def among(self, *names: str) -> dict[str, Peer]:
        """Those of these names that are there."""
        return {name: peer for name, peer in self.found.items() if name in names}

    @property
    def baml_generate(self) -> list[str] | None:
        """The command that writes the client of baml-py; None when it was left out."""
        peer = self.found.get("baml-py")
        return None if peer is None else _generate(Path(peer.python).parent)


def ours() -> Peer:
    """Ours, in the environment that runs the benchmark."""
    return Peer("ours", "ours.py", sys.executable, (REPOSITORY,))


def installed_peers() -> Peers:
    """Ours, and the peers that could be installed."""
    peers = Peers({"ours": ours()})
    found: dict[str, Peer] = {}
    environment = HOME / "env"
    python = environment / "bin" / "python"
    try:
        if not python.exists():
            shutil.rmtree(environment, ignore_errors=True)
            venv.create(environment, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return Peers(peers.found, [f"all peers were left out: {_reason(error)}"])
    for name, script, requirements in (
        ("openai", "openai_package.py", [_same("openai"), _same("httpx2"), _same("pydantic")]),
        ("httpx2", "raw_httpx2.py", [_same("httpx2")]),
        (
            "pydantic-ai",
            "pydantic_ai_package.py",
            [f"pydantic-ai-slim=={PYDANTIC_AI}", _same("openai"), _same("pydantic")],
        ),
        ("baml-py", "baml.py", [f"baml-py=={BAML}", _same("pydantic")]),
    ):
        paths = (HOME / "baml",) if name == "baml-py" else ()
        try:
            _install(python, requirements)
            if name == "baml-py":
                _quietly(_generate(python.parent))
        except (OSError, subprocess.CalledProcessError) as error:
            peers.notes.append(f"{name} was left out: {_reason(error)}")
        else:
            found[name] = Peer(name, script, str(python), paths)
    return Peers({**peers.found, **found}, peers.notes)


def bare_python() -> str:
    """A Python without any packages, whose start no installed package slows down."""
    environment = HOME / "bare"
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment)
    return str(python)


def _same(package: str) -> str:
    return f"{package}=={importlib.metadata.version(package)}"


def _install(python: Path, requirements: list[str]) -> None:
    """Asks the registry only for what is not there yet."""
    check = "import sys, importlib.metadata as m\nfor r in sys.argv[1:]:\n" + (
        "    name, version = r.split('==')\n    assert m.version(name) == version\n"
    )
    there = subprocess.run([python, "-c", check, *requirements], capture_output=True, check=False)
    if there.returncode != 0:
        print(f"installing {', '.join(requirements)} into {HOME}", file=sys.stderr)
        _quietly([str(python), "-m", "pip", "install", "--quiet", *requirements])


def _generate(binaries: Path) -> list[str]:
    return [str(binaries / "baml-cli"), "generate", "--from", str(HERE / "baml_src")]


def _quietly(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError) and error.stderr:
        return error.stderr.decode(errors="replace").strip().splitlines()[-1]
    return str(error)
