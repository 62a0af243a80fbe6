"""`saftc build plan.json --tools MODULE`: compiles plans to modules, or reports the checker's
problems.
"""

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runtime_support.programs import Ambiguous, Point, ProgramFailure, ProgramText, check
from runtime_support.programs import _tree as program_tree
from saftc.diagnostics.render import draw_place
from saftc.diagnostics.styled import plain
from saftc.driver import Checked
from saftc.plans.building import write_plan
from saftc.plans.tools import NotWritable, find_tools
from saftc.project.files import FileProblem, read_source
from saftc.reporting import show_error, write_result
from saftc.source import Source, Span

if TYPE_CHECKING:
    from saftc.cli.commands.build import Builder

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()

_WAITS = "{} waits for approval, and compiled Python would call it without asking"
_ASKS = "run the plan itself: `run(Plan.read(...))` asks first"


class PlanProblem(Exception):
    """Raised if a plan cannot become a module. The message names the problem and its places."""


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """The text of a plan's module, and the scripts whose modules it imports."""

    text: str
    siblings: tuple[Checked, ...]


def compile_plan(file: str, tools: str, folders: Iterable[Path]) -> CompiledPlan:
    """Compiles the plan in `file`, after checking it against the functions of the module `tools`.

    Raises:
        PlanProblem: The plan has errors.
        FileProblem: A file or the module is missing.
    """
    source = read_source(file)
    broken = _not_json(source)
    if broken is not None:
        message, span = broken
        raise PlanProblem(_told(source, f"the plan is not JSON: {message}", span))
    names = set[str]()
    json.loads(source.text, object_hook=names.update)  # the keys of all objects
    offered = find_tools(tools, folders, names)
    checked = check(ProgramText(source.text), offered.registry)
    if isinstance(checked, ProgramFailure):
        found = [_told_at(source, one.message, one.path) for one in checked.diagnostics]
        raise PlanProblem("\n".join(found))
    if isinstance(checked, Ambiguous):
        raise PlanProblem("\n".join(_ambiguous(source, point) for point in checked.points))
    approved = program_tree.waiting_in(checked)
    waiting = [
        _told_at(source, _WAITS.format(call["tool"]), call["path"], _ASKS)
        for call in program_tree.calls_in(checked)
        if call["tool"] in approved
    ]
    if waiting:
        raise PlanProblem("\n".join(waiting))
    name = Path(file).name
    try:
        return CompiledPlan(write_plan(name, checked.root, offered), offered.siblings)
    except NotWritable as problem:
        if problem.path is None:
            raise PlanProblem(f"error: {problem}\n") from None
        raise PlanProblem(_told(source, str(problem), _span_of(source, problem.path))) from None


def _told(source: Source, message: str, span: Span, hint: str = "") -> str:
    return f"error: {message}\n{plain(draw_place(source, span, hint))}"


def _told_at(source: Source, message: str, pointer: str, hint: str = "") -> str:
    """The text of an error at the place in the plan that a JSON Pointer names."""
    steps = (one.replace("~1", "/").replace("~0", "~") for one in pointer.split("/")[1:])
    return _told(source, message, _span_of(source, steps), hint)


def _ambiguous(source: Source, point: Point) -> str:
    """The message about an ambiguity, with the unambiguous plans to choose from."""
    lines = [_told_at(source, point.message, point.path)]
    for candidate in point.candidates:
        program = json.dumps(candidate.program, ensure_ascii=False)
        lines.append(f"  {candidate.sentence}: {program}\n")
    return "".join(lines)


def build_plans(builder: "Builder", tools: str, targets: Iterable[tuple[str, Path | None]]) -> bool:
    """Writes the module of each plan to its target, or to standard output if the target is None.

    The plans call functions of the module `tools`. If it is a script, its module is written beside
    the plan's. Returns whether all succeeded.
    """
    for file, target in targets:
        beside = Path(file).parent
        folders = [beside if target is None else target.parent, beside, Path()]
        try:
            plan = compile_plan(file, tools, folders)
            if target is None:
                write_result(plan.text)
                continue
            builder.done[target] = Path(file)
            builder.put(file, plan.text, target, "--tools", tools)
            scripts = [Path(script.source.name) for script in plan.siblings]
            builder.build_all([(str(s), target.with_name(f"{s.stem}.py")) for s in scripts])
        except PlanProblem as problem:
            sys.stderr.write(str(problem))
            builder.has_failed = True
        except FileProblem as problem:
            show_error(str(problem))
            builder.has_failed = True
    return not builder.has_failed


# The text of a plan


def _not_json(source: Source) -> tuple[str, Span] | None:
    """The reason why a text is not JSON, and the place of the mistake; None if it is JSON."""
    text = source.text
    try:
        text.encode()
        json.loads(text)
    except UnicodeEncodeError as error:
        return "it is not UTF-8", Span(error.start, error.end)
    except json.JSONDecodeError as error:
        last = len(text.rstrip()) - 1
        is_cut = error.pos > last
        message = "it ends too early" if is_cut else error.msg
        start = max(last, 0) if is_cut else error.pos
        return message, Span(start, start + 1)
    except RecursionError:
        return "it is nested too deeply", Span(0, 1)
    return None


def _span_of(source: Source, path: Iterable[str | int]) -> Span:
    """The span of a value in JSON text. For an object, it is the span of its first line.

    If the path is not in the text, the result is the span of the innermost value around it.
    """
    text = source.text
    start = _skip(text, 0)
    for step in path:
        inner = _inside(text, start, str(step))
        if inner is None:
            break
        start = inner
    end = _DECODER.raw_decode(text, start)[1]
    line_end = text.find("\n", start, end)
    return Span(start, end if line_end < 0 else line_end)


def _inside(text: str, start: int, step: str) -> int | None:
    """The start of the item with this index or key in the list or object that begins at `start`.

    The result is None if there is no such item.
    """
    opening = text[start]
    if opening not in "[{":
        return None
    position, index = _skip(text, start + 1), 0
    while text[position] not in "]}":
        key: object = str(index)
        if opening == "{":
            key, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        if key == step:
            return position
        _, position = _DECODER.raw_decode(text, position)
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
        index += 1
    return None


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return position if match is None else match.end()
