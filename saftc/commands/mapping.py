"""`saftc map`: a script and one of its functions, brought to where `map_rows` can take them."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from saftc.commands.progress import is_shown_on, show_line
from saftc.commands.reporting import complain, counted, manner, say, write_rendered
from saftc.project.files import shown
from saftc.project.finder import name_in
from saftc.project.settings import compile_settings
from saftc.project.workspace import Workspace
from saftc.schedule.effects import Effect, Effects
from saftc.syntax import nodes as n

# What no process of a job is to do for itself, in words.
_EFFECTS: dict[Effect, str] = {
    "asks": "asks a model",
    "writes": "changes files, or waits for the user",
    "prints": "prints",
}


def map_script(
    target: str, table: str, out: str, workspace: Workspace, options: Mapping[str, Any]
) -> int:
    """Maps `FILE:FUNCTION` over a table, with the options of `map_rows`; gives the exit code."""
    from runtime_support.errors import RunWaiting, SaftError
    from runtime_support.scale import Module, Script, map_rows
    from saftc.runtime import did_you_mean, listed

    file, _, function = target.rpartition(":")
    if not (file and function):
        complain(f"{target} names no function of a script: it has the form triage.saft:triage")
        return 2
    root, modules = workspace.root_of(file), list[Module]()
    scripts = [*map(str, workspace.siblings(workspace.compile(file))), file]
    for path in scripts:
        module = workspace.compile_with_map(path, f"{Path(path).stem}.py")
        write_rendered(module.said_when_used, sys.stderr)
        if module.text is None:
            return 1
        name = name_in(root, Path(path))
        modules.append(Module(name, module.text, module.source_map))
    for path in scripts:
        found = next(_effects_of_the_top(path, workspace), None)
        if found is not None:
            complain(found)
            return 1
    functions = _functions(file, workspace)
    if function not in functions:
        hint = did_you_mean(function, functions) or f"its functions are {listed(functions)}"
        complain(f"{shown(file)} has no function `{function}`; {hint}")
        return 1
    try:
        script = Script(tuple(modules), functions[function], str(root.resolve()))
        is_shown = not manner.is_quiet and is_shown_on(sys.stderr)
        show = show_line if is_shown else None
        report = map_rows(script, table, out, is_quiet=manner.is_quiet, show=show, **options)
    except SaftError as problem:
        complain(str(problem))
        return 1
    if options["check_only"]:
        say(counted(report.rows, "row") + " checked: found nothing wrong")
        for line in _most(file, function, report.rows, workspace):
            say(line)
        return 0
    say(str(report))
    if report.stopped is not None:
        complain(f"stopped: {report.stopped}")
    if report.waiting:
        complain(f"`saftc approve {out}` decides; then run the same command again to resume")
        return 1 if report.stopped is not None else RunWaiting.exit_code
    return 1 if report.failed or report.stopped else 0


def _most(file: str, function: str, rows: int, workspace: Workspace) -> Iterator[str]:
    """What so many calls of a function send and cost at most."""
    from saftc.bounds.algebra import number
    from saftc.bounds.rendering import why_unbounded
    from saftc.bounds.requests import Bounds
    from saftc.bounds.settings import limits_here, reply_cost_here
    from saftc.runtime import dollars

    checked = workspace.scripts.check(file, workspace.root_of(file))
    bounds = Bounds(checked.facts, checked.source, limits_here(), compile_settings())
    definition = next(
        one
        for one in checked.module.statements
        if isinstance(one, n.FunctionDef) and one.name.text == function
    )
    each = bounds.of_function(definition)
    if each.bound.is_zero:
        return
    if each.bound.reasons:
        yield f"it may send any number of requests: {why_unbounded(each.bound, each.source)}"
        return
    requests = each.bound.most * number(rows)
    yield f"it sends at most {requests.shown} requests, {each.bound.most.shown} for each row"
    most, reply = requests.number, reply_cost_here()
    if most and reply is not None and not bounds.chooses_model(definition):
        yield (
            f"the replies cost at most {dollars(most * reply.cost)}, by the price of {reply.model} "
            f"and max_tokens {reply.max_tokens:,}; the text that is sent costs extra"
        )


def _functions(file: str, workspace: Workspace) -> dict[str, str]:
    """The functions of a script, with their names in Python."""
    text = workspace.compile(file).text or ""
    module = workspace.scripts.check(file, workspace.root_of(file)).module
    names = [one.name.text for one in module.statements if isinstance(one, n.FunctionDef)]
    # What is a word of Python's has an underscore there.
    return {name: name if f"\ndef {name}(" in text else f"{name}_" for name in names}


def _effects_of_the_top(file: str, workspace: Workspace) -> Iterator[str]:
    """Where the top level of a script does what is to be done once, and every process would do."""
    root = workspace.root_of(file)
    checked = workspace.scripts.check(file, root)
    effects = Effects(checked.facts, workspace.scripts.of_script(file, root).pure)
    for statement in checked.module.statements:
        for effect in sorted(effects.of_run(statement) & _EFFECTS.keys()):
            line, column = checked.source.position(statement.span.start)
            yield (
                f"{checked.source.name}:{line}:{column}: the top level of a mapped script runs in "
                f"every process, and here it {_EFFECTS[effect]}; put it into `main`"
            )
