"""The scripts of `corpus/`, and all that the compiler says of one: modules, messages, plan, bounds.

`README.md` there says where they are from. They stay as they are: what a refinement changes is
counted by scripts that were not written for it.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from saftc.cost.rendering import as_text
from saftc.cost.requests import ProgramBounds
from saftc.cost.settings import project_limits
from saftc.diagnostics.render import render_text
from saftc.driver import check, compile_checked
from saftc.overlap.settings import Overlapping
from saftc.previews.requests import overlaps
from saftc.project.scripts import Modules
from saftc.source import Source
from saftc.types.types import forget_remembered

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What people see of a script; `modules` are its plain and its async form."""

    messages: str
    modules: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    bounds: str = ""


@cache
def scripts() -> list[Path]:
    """The scripts, the longest first, as these have the most to change."""
    return sorted(CORPUS.rglob("*.saft"), key=lambda path: -path.stat().st_size)


def compiled(path: Path) -> Outcome:
    """Compiles a script in both forms."""
    modules, source = Modules(path.parent), Source.from_bytes(path.name, path.read_bytes())
    checked = check(source, modules.load, pure=modules.pure)
    told = (*checked.diagnostics, *checked.hints())
    messages = render_text(told, source)
    if checked.has_errors:
        return Outcome(messages)
    forms = [
        compile_checked(checked, Overlapping(pure=modules.pure, is_async=is_async))
        for is_async in (False, True)
    ]
    texts = tuple(
        render_text(one.checked.diagnostics, source) if one.text is None else one.text
        for one in forms
    )
    assert forms[0].module is not None
    plan = overlaps(forms[0].module.plan, source)
    bounds = as_text(ProgramBounds(checked.facts, source, project_limits()))
    return Outcome(messages, texts, tuple(plan.values()), bounds)


def changed(known: dict[Path, Outcome], most: int | None = None) -> list[Path]:
    """The scripts that compile to something else than before, up to `most` of them.

    A crash is something else.
    """
    found: list[Path] = []
    forget_remembered()
    for path, before in known.items():
        if _again(path) != before:
            found.append(path)
            if len(found) == most:
                break
    forget_remembered()
    return found


def _again(path: Path) -> Outcome | None:
    try:
        return compiled(path)
    except Exception:
        return None
