"""A plan's file to the text of its module, or to what is wrong, in the words of the checker."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from runtime_support.programs import Ambiguous, Failure, Point, ProgramText, check
from saftc.diagnostics.render import snippet
from saftc.driver import Checked
from saftc.plans.naming import NotWritable
from saftc.plans.reading import not_json, span_of
from saftc.plans.tools import find_tools
from saftc.plans.writing import write_plan
from saftc.project.files import read_source
from saftc.source import Source, Span


class PlanProblem(Exception):
    """The plan cannot become a module; the text is what is wrong, with its places."""


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """The text of a plan's module, and the scripts whose modules it imports."""

    text: str
    siblings: tuple[Checked, ...]


def compile_plan(file: str, tools: str, folders: Iterable[Path]) -> CompiledPlan:
    """The module of the plan in `file`, checked against the module `tools`.

    Raises PlanProblem, and FileProblem when a file or the module is not there.
    """
    source = read_source(file)
    broken = not_json(source)
    if broken is not None:
        message, span = broken
        raise PlanProblem(_told(source, f"the plan is not JSON: {message}", span))
    offered = find_tools(tools, folders, json.loads(source.text))
    checked = check(ProgramText(source.text), offered.registry)
    if isinstance(checked, Failure):
        raise PlanProblem(
            "\n".join(
                _told(source, one.message, span_of(source, one.path)) for one in checked.diagnostics
            )
        )
    if isinstance(checked, Ambiguous):
        raise PlanProblem("\n".join(_ambiguous(source, point) for point in checked.points))
    name = Path(file).name
    try:
        return CompiledPlan(write_plan(name, checked.root, offered), offered.siblings)
    except NotWritable as problem:
        raise PlanProblem(f"error: {problem}\n") from None


def _told(source: Source, message: str, span: Span) -> str:
    return f"error: {message}\n{snippet(source, span)}"


def _ambiguous(source: Source, point: Point) -> str:
    """An ambiguity with the plans that are not."""
    lines = [_told(source, point.message, span_of(source, point.path))]
    for candidate in point.candidates:
        program = json.dumps(candidate.program, ensure_ascii=False)
        lines.append(f"  {candidate.sentence}: {program}\n")
    return "".join(lines)
