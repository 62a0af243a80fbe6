"""Projects as docs/project.md tells: wheels by setuptools and hatchling, run elsewhere."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.test_packages import wheels  # noqa: F401, the fixture

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

ROOT = Path(__file__).parents[1]

SCRIPTS = {
    "schema.saft": 'type Sorted(label: "spam" | "work", why: string)\n',
    "sorting.saft": (
        "from .schema import Sorted\n"
        "from .words import shorten\n"
        "f sort(mail: string) -> Sorted:\n    ret $ Sort {shorten(mail)}. $\n"
    ),
    "words.saft": "f shorten(text: string) -> string:\n    ret text[:60]\n",
    "main.saft": (
        'from .sorting import sort\nf main():\n    found = sort("a spam mail")\n'
        "    print(found.label)\n"
    ),
}


def _recipes() -> dict[str, str]:
    page = (ROOT / "docs" / "project.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    found = {re.search(r'backend = "(\w+)', one): one for one in blocks if "build-backend" in one}
    return {match[1]: text for match, text in found.items() if match is not None}


def _run(*words: str, folder: Path, **variables: str) -> str:
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        words, cwd=folder, env={**environment, **variables}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("backend", ["setuptools", "hatchling"])
def test_a_wheel_of_scripts(backend: str, wheels: dict[str, Path], tmp_path: Path) -> None:  # noqa: F811
    project = tmp_path / "project"
    package = project / "src" / "mailsort"
    package.mkdir(parents=True)
    (project / "pyproject.toml").write_text(_recipes()[backend])
    (project / ".gitignore").write_text("src/mailsort/*.py\n!src/mailsort/__init__.py\n")
    (package / "__init__.py").write_text("")
    for name, text in SCRIPTS.items():
        (package / name).write_text(text)
    saftc = str(Path(sys.executable).with_name("saftc"))
    _run(saftc, "build", "--embed-settings", folder=project)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "."]
    _run(*build, "--no-build-isolation", "--wheel-dir", str(tmp_path / "dist"), folder=project)
    (wheel,) = (tmp_path / "dist").iterdir()
    fresh = tmp_path / "fresh"
    _run(sys.executable, "-m", "venv", "--without-pip", str(fresh), folder=tmp_path)
    python = str(fresh / "bin" / "python")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps"]
    runtime = str(wheels["saftc_runtime"])
    _run(*install, "--no-index", str(wheel), runtime, folder=tmp_path)
    # What the runtime needs; of the compiler there is nothing, since it is installed by a link.
    site = next(fresh.glob("lib/*/site-packages"))
    (site / "needs.pth").write_text(sysconfig.get_path("purelib"))

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pyproject.toml").write_text(
        '[tool.saft]\nsystem = "Talk like a pirate."\nmodel = "gpt-9-expensive"\ntemprature = 1\n'
    )
    tool = str(fresh / "bin" / "mailsort")
    log = {"SAFT_PROVIDER": "mock", "SAFT_LOG": "log.jsonl"}
    assert _run(tool, folder=elsewhere, **log) == "spam\n"
    sent = (elsewhere / "log.jsonl").read_text()
    assert "Be brief." in sent and "pirate" not in sent and "gpt-9-expensive" not in sent
    # Whoever runs it has the last word.
    _run(tool, folder=elsewhere, SAFT_SYSTEM="In French.", **log)
    assert "In French." in (elsewhere / "log.jsonl").read_text()
    ended = subprocess.run(
        [tool],
        cwd=elsewhere,
        env={**os.environ, **log, "SAFT_PROJECT": str(elsewhere)},
        capture_output=True,
        text=True,
    )
    assert "no option `temprature`; did you mean `temperature`?" in ended.stderr
