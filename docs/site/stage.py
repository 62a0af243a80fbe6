"""Puts the pages of the site where zensical builds them: `python docs/site/stage.py FOLDER`.

    docs/*.md                          -> FOLDER/docs/*.md
    saftc/diagnostics/pages/*.md       -> FOLDER/docs/diagnostics/*.md
    examples/README.md, NAME.saft      -> FOLDER/docs/examples/index.md, NAME.md
    CHANGELOG.md, benchmarks/README.md -> FOLDER/docs/changelog.md, benchmarks.md

A page of an example shows the script, the Python that it becomes, and what its recording prints. A
link from page to page leads to the page on the site; one to a file that has none becomes its text.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = Path(__file__).with_name("zensical.toml")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INFO = re.compile(r"^```(\w+) ([\w./-]+)$", re.MULTILINE)


def pages() -> dict[Path, str]:
    """The files that become pages or pictures, and where each stands on the site."""
    found = {path: path.name for path in (ROOT / "docs").glob("*.*")}
    found[ROOT / "docs/diagnostics/README.md"] = "diagnostics/index.md"
    for path in (ROOT / "saftc/diagnostics/pages").glob("*.md"):
        found[path] = f"diagnostics/{path.name}"
    found[ROOT / "examples/README.md"] = "examples/index.md"
    for path in (ROOT / "examples").glob("*.saft"):
        found[path] = f"examples/{path.stem}.md"
    found[ROOT / "benchmarks/README.md"] = "benchmarks.md"
    found[ROOT / "CHANGELOG.md"] = "changelog.md"
    found[ROOT / "SECURITY.md"] = "security.md"
    return found


def stage(folder: Path) -> None:
    """Writes all pages below `folder`, and the configuration beside them."""
    found = pages()
    for source, target in found.items():
        place = folder / "docs" / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            text = source.read_text(encoding="utf-8")
            place.write_text(_with_links(text, source, target, found), encoding="utf-8")
        elif source.suffix == ".saft":
            place.write_text(_example(source), encoding="utf-8")
        else:
            shutil.copy(source, place)
    shutil.copy(CONFIGURATION, folder)
    shutil.copy(CONFIGURATION.with_name("site.css"), folder / "docs")


def _with_links(text: str, source: Path, target: str, found: dict[Path, str]) -> str:
    """The text of a page with the links that hold on the site, and titles above named files."""

    def link(match: re.Match[str]) -> str:
        mark, words, path, anchor = match.groups()
        to = found.get(Path(os.path.normpath(source.parent / path)))
        if to is None:
            return words
        relative = os.path.relpath(to, Path(target).parent)
        return f"{mark}[{words}]({relative}{anchor or ''})"

    parts = list[str]()
    end = 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(link, text[end : fence.start()])]
        parts += [_INFO.sub(r'```\1 title="\2"', fence[0])]
        end = fence.end()
    return "".join([*parts, _LINK.sub(link, text[end:])])


def _example(script: Path) -> str:
    """The page of an example."""
    text = script.read_text(encoding="utf-8")
    module = (ROOT / "build" / f"{script.stem}.py").read_text(encoding="utf-8")
    printed = ROOT / "examples" / "recordings" / f"{script.stem}.txt"
    parts = [
        f"# {script.stem}",
        f'```saft title="{script.name}"\n{text}```',
        f"What `saftc build {script.name}` writes:",
        f'```python title="{script.stem}.py"\n{module}```',
    ]
    if printed.exists():
        output = printed.read_text(encoding="utf-8")
        parts += ["What it prints, with the answers of its recording:", f"```text\n{output}```"]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
