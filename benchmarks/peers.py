"""Who is measured: ours, and what one would use instead.

A peer that is not among our own dependencies is installed into an environment of its own under
`.peers/`, once; one that cannot be installed is left out with a note.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
HOME = HERE / ".peers"
BAML = "baml-py==0.226.3"


@dataclass(frozen=True)
class Peer:
    """A program in `implementations/`, the Python to run it with, and what it imports."""

    name: str
    script: str
    python: str
    paths: tuple[Path, ...] = ()


def installed_peers() -> list[Peer]:
    """Ours first."""
    peers = [
        Peer("ours", "ours.py", sys.executable),
        Peer("openai", "openai_package.py", sys.executable),
        Peer("httpx2", "raw_httpx2.py", sys.executable),
    ]
    try:
        peers.append(_baml())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"left out: baml-py could not be installed ({error})", file=sys.stderr)
    return peers


def _baml() -> Peer:
    """baml-py in its environment, and the client that it generates from `baml_src/`."""
    environment = HOME / "baml-env"
    binaries = environment / "bin"
    if not (binaries / "baml-cli").exists():
        shutil.rmtree(environment, ignore_errors=True)
        print(f"installing {BAML} into {environment}", file=sys.stderr)
        venv.create(environment, with_pip=True)
        _quietly(str(binaries / "python"), "-m", "pip", "install", "-q", BAML, "pydantic")
    _quietly(str(binaries / "baml-cli"), "generate", "--from", str(HERE / "baml_src"))
    return Peer("baml-py", "baml.py", str(binaries / "python"), (HOME / "baml",))


def _quietly(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
