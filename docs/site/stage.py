"""Puts the pages of the site where zensical builds them: `python docs/site/stage.py FOLDER`.

    docs/*.md                          -> FOLDER/docs/*.md, tour.md with the lessons and what they
                                          print with their recorded answers
    saftc/diagnostics/pages/*.md       -> FOLDER/docs/diagnostics/*.md; the list: codes.md
    examples/README.md, NAME.saft      -> FOLDER/docs/examples/index.md, NAME.md
    CHANGELOG.md, benchmarks/README.md -> FOLDER/docs/changelog.md, benchmarks.md
    the navigation                     -> FOLDER/docs/llms.txt

A page of an example shows the script, the Python that it becomes, and what its recording prints. A
link from page to page leads to the page on the site; one to another file to a copy of it, in
FOLDER/docs/files, and one to a folder to a list of its files there.

`python docs/site/stage.py FOLDER --texts`, after the build, puts the Markdown of each page into
FOLDER/html: `llms.txt`, a list of the pages for programs (https://llmstxt.org), links to it. It
also has each page link to the file that it was made of, for editing, takes empty headings out of
tables, and keeps pages from asking the repository's host how many stars it has.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = Path(__file__).with_name("zensical.toml")
VERSION = ROOT / "saftc" / "_version.py"
TOUR = ROOT / "saftc/play/tour"
# What is typed where a lesson asks for a line.
TYPED = "Ada\n"
_LEFT_OUT = {"node_modules", "__pycache__"}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INFO = re.compile(r"^```(\w+) ([\w./-]+)$", re.MULTILINE)


def pages() -> dict[Path, str]:
    """The files that become pages or pictures, and where each stands on the site."""
    found = {path: path.name for path in (ROOT / "docs").glob("*.*")}
    found[ROOT / "docs/diagnostics/README.md"] = "diagnostics/codes.md"
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
    files: set[Path] = set()
    for source, target in found.items():
        place = folder / "docs" / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            text = source.read_text(encoding="utf-8")
            text += _lessons() if target == "tour.md" else ""
            place.write_text(_with_links(text, source, target, found, files), encoding="utf-8")
        elif source.suffix == ".saft":
            place.write_text(_example(source), encoding="utf-8")
        else:
            shutil.copy(source, place)
    for file in sorted(files):
        _copy(file, folder / "docs" / "files" / file.relative_to(ROOT))
    (folder / CONFIGURATION.name).write_text(_configuration(), encoding="utf-8")
    for name in ("site.css", "site.js", "favicon.svg"):
        shutil.copy(CONFIGURATION.with_name(name), folder / "docs")
    (folder / "docs" / "llms.txt").write_text(_overview(folder / "docs"), encoding="utf-8")


def add_texts(folder: Path) -> None:
    """Puts the Markdown of each page into the built site, at the path that `llms.txt` names."""
    for page in (folder / "docs").rglob("*.md"):
        target = folder / "html" / page.relative_to(folder / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, target)
    project = tomllib.loads((folder / CONFIGURATION.name).read_text(encoding="utf-8"))["project"]
    edited = f"{project['repo_url']}/{project['edit_uri']}"
    for source, target in pages().items():
        name = target.removesuffix("index.md") if target.endswith("index.md") else target[:-3] + "/"
        page = folder / "html" / name / "index.html"
        if page.exists():
            text = page.read_text(encoding="utf-8")
            to = os.path.normpath(f"docs/../{source.relative_to(ROOT)}")
            link = f"{project['repo_url']}/edit/main/{to}"
            text = text.replace(f"{edited}{target}", link)
            # A heading that says nothing is none.
            page.write_text(text.replace("<th></th>", "<td></td>"), encoding="utf-8")
    for page in (folder / "html").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(' data-md-component="source"', ""), encoding="utf-8")


def _configuration() -> str:
    """The configuration, with the version and the addresses of the environment, or of saftc."""
    text = CONFIGURATION.read_text(encoding="utf-8")
    known = runpy.run_path(str(VERSION))
    site = os.environ.get("SITE_URL") or known["SITE_URL"]
    addresses = {
        "site_url": site and site.rstrip("/") + "/",
        "repo_url": os.environ.get("REPO_URL", "").rstrip("/"),
    }
    for name, address in addresses.items():
        if address:
            text = re.sub(rf'^{name} = ".*"$', f'{name} = "{address}"', text, flags=re.MULTILINE)
    return text.replace("{version}", str(known["__version__"]))


def _copy(file: Path, target: Path) -> None:
    """Copies a file; of a folder, the files in it, and a page that lists them."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not file.is_dir():
        shutil.copy(file, target)
        return
    listed = [f"# {file.relative_to(ROOT)}", "The files of this folder.", ""]
    # What is Markdown would become a page.
    for one in sorted(set(file.rglob("*")) - set(file.rglob("*.md"))):
        name = one.relative_to(file)
        if one.is_file() and not any(part in _LEFT_OUT or part[0] == "." for part in name.parts):
            _copy(one, target / name)
            listed.append(f"- [{name}]({target.name}/{name})")
    target.with_suffix(".md").write_text("\n\n".join(listed[:2]) + "\n" + "\n".join(listed[2:]))


def _lessons() -> str:
    """The lessons of the tour, each with its text, its code and what it prints."""
    parts = [""]
    for number, path in enumerate(sorted(TOUR.glob("*.saft")), 1):
        comments, _, code = path.read_text(encoding="utf-8").partition("\n\n")
        title, *said = [line.removeprefix("//").strip() for line in comments.splitlines()]
        parts += [f"## {number}. {title}", " ".join(said).strip(), f"```saft\n{code}```"]
        parts += ["With its recorded answers, it prints", f"```text\n{_printed(path)}```"]
    return "\n\n".join(parts) + "\n"


class _Typed(StringIO):
    """What is typed, which a terminal shows as it is read."""

    def readline(self, size: int = -1, /) -> str:
        line = super().readline(size)
        sys.stdout.write(line)
        return line


def _printed(lesson: Path) -> str:
    """What a lesson prints with its recorded answers; what they lack is an error."""
    from saftc.api import run_source

    os.environ["SAFT_REPLAY"] = str(lesson.with_suffix(".jsonl"))
    stdin, sys.stdin = sys.stdin, _Typed(TYPED)
    try:
        with redirect_stdout(StringIO()) as output, chdir(TOUR):
            run_source(lesson.read_text(encoding="utf-8"), provider="mock")
    finally:
        sys.stdin = stdin
        del os.environ["SAFT_REPLAY"]
    return output.getvalue()


def _with_links(
    text: str, source: Path, target: str, found: dict[Path, str], files: set[Path]
) -> str:
    """The text of a page with the links that hold on the site, and titles above named files."""

    def link(match: re.Match[str]) -> str:
        mark, words, path, anchor = match.groups()
        file = Path(os.path.normpath(source.parent / path))
        to = found.get(file)
        if file.parent == ROOT / "examples/recordings" and file.suffix == ".txt":
            to, anchor = f"examples/{file.stem}.md", "#what-it-prints"
        elif to is None:
            if not file.exists():
                raise FileNotFoundError(f"{source}: {path}")
            files.add(file)
            to = f"files/{file.relative_to(ROOT)}" + (".md" if file.is_dir() else "")
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
        "## The Python that it becomes",
        f"What `saftc build {script.name}` writes:",
        f'```python title="{script.stem}.py"\n{module}```',
    ]
    if printed.exists():
        output = printed.read_text(encoding="utf-8")
        parts += ["## What it prints", "With the answers of its recording:"]
        parts += [f"```text\n{output}```"]
    return "\n\n".join(parts) + "\n"


def _overview(pages: Path) -> str:
    """The text of `llms.txt`: each page of the navigation, with its first sentence."""
    project = tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))["project"]
    lines = [f"# {project['site_name']}", "", f"> {project['site_description']}."]
    for section in project["nav"]:
        for title, entries in section.items():
            lines += ["", f"## {title}", ""]
            for name, page in _listed(entries):
                text = (pages / page).read_text(encoding="utf-8")
                heading, sentence = _beginning(text)
                lines += [f"- [{name or heading}]({page}): {sentence}"]
    return "\n".join(lines) + "\n"


def _listed(entries: list[Any]) -> Iterator[tuple[str | None, str]]:
    for entry in entries:
        if isinstance(entry, str):
            yield None, entry
        else:
            yield from entry.items()


def _beginning(text: str) -> tuple[str, str]:
    """The heading of a page, and the first sentence below it, without links."""
    heading = ""
    for part in _FENCE.sub("", text).split("\n\n"):
        if part.startswith("# "):
            heading = part[2:].strip()
        elif re.match(r"[A-Z`]", part):
            words = _LINK.sub(r"\2", " ".join(part.split()))
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words)
            return heading, re.split(r"(?<=[.?!])\s+(?=[A-Z`])", words)[0].rstrip(":")
    raise ValueError("a page begins with a heading and a sentence")


if __name__ == "__main__":
    (add_texts if "--texts" in sys.argv else stage)(Path(sys.argv[1]))
