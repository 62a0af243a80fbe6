"""The start of compiled scripts and of saftc's commands, as whole processes that take turns."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from efforts import Effort
from figures import Figure
from peers import HERE, REPOSITORY, Peers, bare_python
from processes import Command, milliseconds, run
from workers import environment, fake_server

GROUP = "start of a process"
STARTS = HERE / "starts"

# Scripts without prompts: every type is proved, values are shown, and nothing is proved.
WITHOUT_PROMPTS = {
    "proved": "a script without prompts, all proved",
    "shown": "the same, that shows values",
    "dynamic": "the same, nothing proved",
}


def measure(effort: Effort, peers: Peers) -> Iterator[Figure]:
    """The time of each process."""
    with tempfile.TemporaryDirectory() as folder, fake_server() as url:
        yield from _measure(effort, peers, Path(folder), url)


def _measure(effort: Effort, peers: Peers, folder: Path, url: str) -> Iterator[Figure]:
    quick = environment(REPOSITORY)
    keyed = {**quick, "OPENAI_API_KEY": "none"}
    asking = {**keyed, "SAFT_MODEL": "fake", "SAFT_BASE_URL": f"{url}/text/v1"}
    cached = {**quick, "SAFT_CACHE_DIR": str(folder / "cache")}
    saftc = [sys.executable, "-m", "saftc"]
    bare = bare_python()
    scripts = [*WITHOUT_PROMPTS, "prompt"]
    sources = [str(STARTS / f"{name}.saft") for name in scripts]
    run(Command([*saftc, "build", *sources, "--out-dir", str(folder)], cached, folder))

    def command(*words: str, of: dict[str, str] = quick) -> Command:
        return Command(words, of, folder)

    commands = {
        "python": command(bare, "-c", "pass"),
        **{name: command(bare, f"{name}.py") for name in WITHOUT_PROMPTS},
        "by hand": command(bare, str(STARTS / "dynamic_by_hand.py")),
        "prompt": command(sys.executable, "prompt.py", of=asking),
        "help": command(*saftc, "--help"),
        "check": command(*saftc, "check", sources[0], of=cached),
        "build": command(*saftc, "--no-cache", "build", sources[0], "-o", "-", of=cached),
        "unchanged": command(*saftc, "build", *sources, "--out-dir", ".", of=cached),
    }
    for name in ("openai", "httpx2"):
        if name in peers.found:
            program = str(STARTS / f"{name}_prompt.py")
            words = (peers.found[name].python, program, f"{url}/text/v1")
            commands[name] = command(*words, of=keyed)
    generate = peers.baml_generate
    if generate is not None:
        commands["baml-cli generate"] = command(*generate, of={**os.environ, **quick})
    found = milliseconds(commands, effort.process_turns)
    python = {"python -c pass": found["python"]}
    against = "python -c pass"
    for name, what in WITHOUT_PROMPTS.items():
        by_hand = {"by hand": found["by hand"]} if name == "dynamic" else {}
        yield Figure(GROUP, what, "ms", found[name], {**python, **by_hand}, against, at_most=1.5)
    asked = {name: found[name] for name in ("openai", "httpx2") if name in found}
    yield Figure(GROUP, "a script with one prompt", "ms", found["prompt"], asked, "openai")
    baml = {name: found[name] for name in ("baml-cli generate",) if name in found}
    yield Figure(GROUP, "saftc --help", "ms", found["help"], python, against)
    yield Figure(GROUP, "saftc check", "ms", found["check"], baml, "baml-cli generate")
    yield Figure(
        GROUP, "saftc build, without the cache", "ms", found["build"], baml, "baml-cli generate"
    )
    what = "saftc build, nothing changed"
    yield Figure(GROUP, what, "ms", found["unchanged"], baml, "baml-cli generate")
