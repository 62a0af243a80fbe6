"""`saftc map` and `saftc eval`: run a function of a script with `map_rows`."""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saftc.cli.commands.run import begin_drawing, end_drawing
from saftc.cli.progress import is_shown_on, show_line
from saftc.effects.effects import Effect, Effects
from saftc.project.files import FileProblem, shown
from saftc.project.finder import name_in
from saftc.project.settings import Project
from saftc.project.workspace import Workspace
from saftc.reporting import (
    counted,
    manner,
    show_error,
    show_info,
    width_of,
    write_rendered,
    write_result,
)
from saftc.syntax import nodes as n

if TYPE_CHECKING:
    from runtime_support import Settings
    from runtime_support._budgets import Spent
    from runtime_support.map import Report, Script
    from saftc.trace.evaluation import Evaluation, LastRun, Scoring

# Effects that must not run in each process of a job, in words.
_EFFECTS: dict[Effect, str] = {
    "asks": "asks a model",
    "writes": "changes files, or waits for the user",
    "prints": "prints",
}


# Exit codes: rows failed or are left; the job was refused before its start; its budget is spent.
FAILED, REFUSED, BUDGET_SPENT = 1, 2, 5


def map_script(
    target: str,
    table: str,
    out: str,
    workspace: Workspace,
    options: Mapping[str, Any],
    *,
    as_json: bool = False,
) -> int:
    """Maps `FILE:FUNCTION` over a table, with the options of `map_rows`. Returns the exit code."""
    from runtime_support.errors import SaftError
    from runtime_support.map import Interrupted, map_rows

    try:
        script, file, function = script_of(target, workspace)
    except FileProblem as problem:
        return _refused(problem)
    if (refusal := _drawing_problem(out, options)) is not None:
        show_error(refusal)
        return REFUSED
    try:
        show = show_line if not manner.is_quiet and is_shown_on(sys.stderr) else None
        report = map_rows(script, table, out, is_quiet=manner.is_quiet, show=show, **options)
        checks = options["check_only"]
        lines = list(_most(file, function, report.rows, workspace)) if checks else []
    except SaftError as error:
        return _refused(error)
    except Interrupted as end:
        end_drawing("interrupted")
        if as_json:
            write_result(json.dumps(end.report.summary()) + "\n")
        raise
    if options["check_only"]:
        show_info(counted(report.rows, "row") + " checked: found nothing wrong")
        for line in lines:
            show_info(line)
        return 0
    end_drawing("failed" if report.stopped else "ok", report.stopped or "")
    if as_json:
        write_result(json.dumps(report.summary()) + "\n")
    else:
        show_info(str(report))
    if report.stopped is not None:
        show_error(f"stopped: {report.stopped}")
    if report.waiting:
        show_error(f"`saftc approve {out}` decides; then run the same command again to resume")
    return exit_code(report)


def evaluate_script(
    target: str,
    table: str,
    workspace: Workspace,
    options: Mapping[str, Any],
    scoring: "Scoring",
    *,
    as_json: bool = False,
) -> int:
    """Scores `FILE:FUNCTION` on the rows of a table with each model. Returns the exit code."""
    from runtime_support.errors import SaftError
    from saftc.trace.evaluation import LastRun, as_report, with_judge

    try:
        script, file, _ = script_of(target, workspace, scoring.function)
    except FileProblem as problem:
        return _refused(problem)
    if (refusal := begin_drawing()) is not None:
        show_error(refusal)
        return REFUSED
    last = LastRun(workspace.roots.of(file), script, table, scoring)
    score = functions_of(file, workspace).get(scoring.function or "")
    judge, parameter = with_judge(script, score)
    options = {**options, "columns": "none", "format": "jsonl"}
    options["rename"] = {**options["rename"], parameter: scoring.expect}
    try:
        evaluations = list(_evaluate_each(judge, table, scoring, parameter, last, options))
    except SaftError as error:
        return _refused(error)
    end_drawing("ok")
    for one in evaluations:
        if one.report.stopped or one.report.waiting:
            show_error(f"{one.model} stopped: {one.report.stopped or 'rows wait for approval'}")
            if one.report.budget_spent and len(evaluations) > 1:
                spent = "; ".join(f"{each.model}: {each.report.spent}" for each in evaluations)
                show_error(f"the budget is for all models; {spent}")
            return exit_code(one.report)
    lines = list(last.replace(evaluations, time.time()))
    if as_json:
        data = {"table": table, "models": [one.data() for one in evaluations], "changes": lines}
        lines = [json.dumps(data, ensure_ascii=False)]
    else:
        lines = [*as_report(table, evaluations, has_labels=score is None), *lines]
    write_result("".join(f"{line}\n" for line in lines))
    below = [one for one in evaluations if one.score < scoring.at_least]
    for one in below:
        show_error(f"{one.model}: {one.shown} is below {scoring.at_least:.1%}")
    return FAILED if below else 0


def _refused(problem: Exception) -> int:
    """Reports why a job was refused, unless that was reported already. Returns the exit code."""
    if str(problem):
        show_error(str(problem))
    return REFUSED


def _evaluate_each(
    script: "Script",
    table: str,
    scoring: "Scoring",
    parameter: str,
    last: "LastRun",
    options: Mapping[str, Any],
) -> "Iterator[Evaluation]":
    """Evaluates the models one after the other, or only the model in the settings if none is named.

    If the evaluation of a model is stopped, the models after it are not evaluated.
    """
    from runtime_support import ConfigError, configure
    from runtime_support._budgets import Spent
    from runtime_support._core.settings import settings_for
    from runtime_support.map import map_rows
    from runtime_support.providers import provider_and_model
    from saftc.trace.evaluation import Evaluation, read_rows

    show = show_line if not manner.is_quiet and is_shown_on(sys.stderr) else None
    spent = Spent()
    for model in dict.fromkeys(scoring.models) or [""]:
        left = _budget_left(settings_for(), spent)
        with configure(**left, **({"model": model} if model else {})):
            settings = settings_for()
            name, answers = provider_and_model(settings)
            said = [settings.sampling(), settings.system, settings.enforce_schema, options]
            out = last.job(name, answers, str(said), os.environ.get("SAFT_REPLAY", ""))
            if not map_rows(script, table, out, check_only=True, **options).rows:
                raise ConfigError(f"{table} has no rows")
            quiet = manner.is_quiet
            report = map_rows(script, table, out, is_quiet=quiet, show=show, **options)
        spent.add(report.spent)
        rows = read_rows(out, parameter)
        yield Evaluation(answers, rows, report)
        if report.stopped is not None:
            return
        if rows and all(row.get("expected") in ("", "nil") for row in rows):
            raise ConfigError(f"{table} has no expected values: all of them are empty")


def _budget_left(settings: "Settings", spent: "Spent") -> dict[str, Any]:
    """The budgets in the settings, reduced by the spending of earlier models."""
    used = {
        "budget_requests": spent.requests,
        "budget_tokens": spent.tokens,
        "budget_cost": spent.cost,
    }
    given = [name for name in used if getattr(settings, name) is not None]
    return {name: max(0, getattr(settings, name) - used[name]) for name in given}


def _drawing_problem(out: str, options: Mapping[str, Any]) -> str | None:
    """Starts the drawing of the job's requests. Returns the reason if that is impossible."""
    is_elsewhere = options["workers"] is not None or options["address"] is not None
    if is_elsewhere and any(map(os.environ.get, ("SAFT_TIMELINE", "SAFT_CHROME"))):
        return (
            "--timeline and --chrome draw the requests of this process, not those of workers; "
            f"`saftc trace {out}/job.db --timeline FILE` draws the job"
        )
    return begin_drawing()


def exit_code(report: "Report") -> int:
    from runtime_support.errors import RunWaiting

    if report.budget_spent:
        return BUDGET_SPENT
    if report.stopped is None and report.waiting:
        return RunWaiting.exit_code
    return FAILED if report.failed or report.stopped else 0


def script_of(target: str, workspace: Workspace, *others: str | None) -> "tuple[Script, str, str]":
    """The compiled script of `FILE:FUNCTION`, the file, and the function.

    `others` are further functions that the script must have.

    Raises:
        FileProblem: The script or a function is unusable. The message is empty if the problem was
            reported already.
    """
    from runtime_support._values.names import did_you_mean, listed
    from runtime_support.map import Module, Script

    file, _, function = target.rpartition(":")
    if not (file and function):
        raise FileProblem(
            f"{target} names no function of a script: it has the form triage.saft:triage"
        )
    root, modules = workspace.roots.of(file), list[Module]()
    scripts = [*map(str, workspace.siblings(workspace.compile(file))), file]
    for path in scripts:
        module = workspace.compile_with_map(path, f"{Path(path).stem}.py")
        said = workspace.diagnostics_of(module, width_of(sys.stderr), when_used=True)
        write_rendered(said, sys.stderr)
        if module.text is None:
            raise FileProblem
        name = name_in(root, Path(path))
        modules.append(Module(name, module.text, module.source_map))
    for path in scripts:
        for found in _effects_of_the_top(path, workspace):
            raise FileProblem(found)
    functions = functions_of(file, workspace)
    for name in filter(None, (function, *others)):
        if name not in functions:
            hint = did_you_mean(name, functions) or f"its functions are {listed(functions)}"
            raise FileProblem(f"{shown(file)} has no function `{name}`; {hint}")
    return Script(tuple(modules), functions[function], str(root.resolve())), file, function


def _most(file: str, function: str, rows: int, workspace: Workspace) -> Iterator[str]:
    """Yields sentences about the largest number of requests of a job, and about their cost.

    Raises ConfigError if the cost is limited by a budget and the model's price is unknown.
    """
    from runtime_support._budgets import dollars, no_price, price_of
    from runtime_support._core.settings import settings_to_show
    from runtime_support.providers import provider_and_model
    from saftc.cost.bound import number
    from saftc.cost.rendering import why_unbounded
    from saftc.cost.requests import ProgramBounds
    from saftc.cost.settings import project_limits, project_reply_cost

    checked = workspace.check(file)
    bounds = ProgramBounds(checked.facts, checked.source, project_limits(), Project().compiling())
    definition = next(
        one
        for one in checked.module.statements
        if isinstance(one, n.FunctionDef) and one.name.text == function
    )
    each = bounds.of_function(definition)
    if each.bound.is_zero:
        return
    settings = settings_to_show()
    model = provider_and_model(settings)[1]
    has_price = settings.budget_cost is None or price_of(settings, model, 0) is not None
    if not has_price and not bounds.chooses_model(definition):
        raise no_price(model)
    if each.bound.reasons:
        yield f"it may send any number of requests: {why_unbounded(each.bound, each.source)}"
        return
    requests = each.bound * number(rows)
    yield f"it sends at most {requests.shown} requests, {each.bound.shown} for each row"
    most, reply = requests.number, project_reply_cost()
    if most and reply is not None and not bounds.chooses_model(definition):
        yield (
            f"the replies cost at most {dollars(most * reply.cost)}, by the price of {reply.model} "
            f"and max_tokens {reply.max_tokens:,}; the text of the requests costs extra"
        )


def functions_of(file: str, workspace: Workspace) -> dict[str, str]:
    """Maps the name of each function of a script to its name in Python."""
    text = workspace.compile(file).text or ""
    module = workspace.check(file).module
    names = [one.name.text for one in module.statements if isinstance(one, n.FunctionDef)]
    # Python keywords have an underscore there.
    return {name: name if f"\ndef {name}(" in text else f"{name}_" for name in names}


def _effects_of_the_top(file: str, workspace: Workspace) -> Iterator[str]:
    """Yields a message for each top-level effect of a script, which every process would repeat."""
    checked = workspace.check(file)
    effects = Effects(checked.facts, workspace.scripts.of(file).pure)
    for statement in checked.module.statements:
        for effect in sorted(effects.of_run(statement) & _EFFECTS.keys()):
            line, column = checked.source.position(statement.span.start)
            yield (
                f"{checked.source.name}:{line}:{column}: the top level of a mapped script runs in "
                f"every process, and here it {_EFFECTS[effect]}; put it into `main`"
            )
