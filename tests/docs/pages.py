"""The pages of the codes, taken apart and run; and their index."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from saftc.cost.rendering import too_many
from saftc.cost.requests import ProgramBounds
from saftc.cost.settings import project_limits
from saftc.diagnostics.catalogue import BY_NUMBER
from saftc.diagnostics.explanations import PAGES, title
from saftc.diagnostics.render import render_text
from saftc.driver import Checked, compile_checked
from saftc.overlap.settings import Overlapping
from saftc.project.scripts import Scripts

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "diagnostics" / "README.md"

_BLOCK = re.compile(r"^```(saft|python|json|text) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Where Python looks for modules is another place on each machine.
_SEARCHED = re.compile(r"looked in .*")

_GROUPS = {
    "01": "Text and syntax",
    "02": "Names",
    "03": "Types",
    "04": "Prompts",
    "05": "Modules",
    "06": "Warnings",
}


@dataclass(slots=True)
class Page:
    """The scripts of a page, and what it says of the wrong one."""

    title: str = ""
    text: str = ""
    wrong: str = ""
    right: str = ""
    diagnostic: str = ""
    encoding: str = "utf-8"
    bound: int | None = None
    siblings: dict[str, str] = field(default_factory=dict[str, str])


def codes() -> list[str]:
    """Every code, in order."""
    return sorted(BY_NUMBER)


def read_page(code: str) -> Page:
    """The page of `code`."""
    content = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    heading, _, text = content.partition("\n\n")
    page = Page(title=heading, text=text.partition("\n\n")[0])
    for kind, info, body in _BLOCK.findall(content):
        first, *more = info.split() or [""]
        if kind == "text":
            page.diagnostic = body
        elif first == "wrong":
            page.wrong = body
            given = dict(item.split("=") for item in more)
            page.encoding = given.get("encoding", "utf-8")
            if "bound" in given:
                page.bound = int(given["bound"])
        elif first == "right":
            page.right = body
        else:
            page.siblings[first] = body
    return page


def checked(page: Page, script: bytes) -> tuple[Checked, str]:
    """A script of a page, checked in the current folder beside its siblings, and what is found."""
    for name, text in page.siblings.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("script.saft").write_bytes(script)
    found = compile_checked(Scripts().check("script.saft"), Overlapping(is_async=True)).checked
    if BY_NUMBER[page.title[2:10]].severity == "hint":
        found = replace(found, diagnostics=(*found.diagnostics, *found.hints()))
    if page.bound is not None:
        passed = too_many(ProgramBounds(found.facts, found.source, project_limits()), page.bound)
        found = replace(found, diagnostics=(*found.diagnostics, *([passed] if passed else [])))
    text = render_text(found.diagnostics, found.source)
    return found, _SEARCHED.sub("looked in ., ...", text)


def index_text() -> str:
    """What `docs/diagnostics/README.md` has to say."""
    lines = [
        "# Diagnostics",
        "",
        "What `saftc` reports has a code that never changes its meaning. `saftc explain SAFT0203`",
        "shows the page of a code; `saftc explain` lists them all.",
    ]
    group = ""
    for code in codes():
        if code[4:6] != group:
            group = code[4:6]
            lines += ["", f"## {_GROUPS[group]}", ""]
        target = f"../../saftc/diagnostics/pages/{code}.md"
        lines.append(f"- [{code}]({target}): {title(BY_NUMBER[code])}")
    return "\n".join(lines) + "\n"
