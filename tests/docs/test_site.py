"""The site builds without a warning: every page is there, every link and anchor leads somewhere."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"


def navigation() -> Any:
    return tomllib.loads((SITE / "zensical.toml").read_text())["project"]["nav"]


def named(nav: Any) -> Iterator[str]:
    """The files that an entry of the navigation names."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from named(part)


def test_the_site_builds(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SITE / "stage.py", tmp_path], check=True)
    done = subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--strict"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tutorial = (tmp_path / "html" / "tutorial" / "index.html").read_text(encoding="utf-8")
    assert '<span class="filename">triage.saft</span>' in tutorial
    assert '<span class="k">ret</span>' in tutorial, "the package's lexer colours scripts"
    subprocess.run([sys.executable, SITE / "stage.py", tmp_path, "--texts"], check=True)
    html = tmp_path / "html"
    listed = re.findall(r"^- \[.+\]\((.+)\): .+", (html / "llms.txt").read_text("utf-8"), re.M)
    assert listed == list(named(navigation()))
    assert all((html / page).is_file() for page in listed)


def test_every_page_is_in_the_navigation() -> None:
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert pages - set(named(navigation())) == set()
