"""`saftc check`: reports mistakes in scripts, as text or for another program."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from saftc.cli.flags import CheckOptions
from saftc.cli.process import no_garbage_collector
from saftc.diagnostics.model import LIMIT, Diagnostic
from saftc.driver import Checked
from saftc.project.files import UNNAMED, FileProblem, files_of, read_script, shown
from saftc.project.finder import Roots, package_in
from saftc.project.reads import Reads
from saftc.project.scripts import Scripts
from saftc.project.settings import Project
from saftc.reporting import (
    WrongUsage,
    counted,
    show_error,
    show_info,
    warn_of_name,
    write_found,
    write_result,
    wrong_setting,
)
from saftc.source import Source

if TYPE_CHECKING:
    from saftc.cost.requests import ProgramBounds


def check_scripts(files: Sequence[str], options: CheckOptions) -> int:
    """Reports mistakes in scripts, and with --fix fixes those that it can. Returns the exit code.

    With --watch, checks changed scripts again until it is interrupted.
    """
    if options.watch:
        _watch(files, options)
    if options.fix and "-" in files and not options.diff:
        raise WrongUsage(
            "--fix changes files, and `-` is standard input; --diff shows what would change"
        )
    if options.diff and (options.format != "text" or options.bounds):
        raise WrongUsage("--diff goes with no other option: leave the others out")
    if options.bounds and options.format not in ("text", "json"):
        raise WrongUsage(f"--bounds can be text or json, not {options.format}")
    with no_garbage_collector():
        return int(check_all(files, options))


def _watch(files: Sequence[str], options: CheckOptions) -> NoReturn:
    from saftc.cli.watching import refuse_watching, watch_scripts
    from saftc.project.workspace import Workspace

    refused = {
        "--fix": options.fix,
        "--diff": options.diff,
        "--format": options.format != "text",
    }
    refuse_watching(files, refused, "reports mistakes as text")

    def report(workspace: Workspace, is_first: bool) -> None:
        if not is_first:
            show_info("")
        check_all(files, options, workspace.scripts)

    watch_scripts(files, lambda reads: Workspace(None, root=options.root, reads=reads), report)


def check_all(
    arguments: Sequence[str], options: CheckOptions, scripts: Scripts | None = None
) -> bool:
    """Writes the mistakes in settings and scripts. Returns whether the check fails.

    It fails if there are errors or unreadable files or, with --strict, warnings. With `bounds`, the
    largest number of requests of each script without errors is written too. In JSON, one object has
    the mistakes and the bounds. If `scripts` is given, it may have results of earlier checks.

    Raises:
        FileProblem: A setting that bounds requests has a wrong value.
    """
    format, bounds, bound = options.format, options.bounds, options.bound
    bounded: list[ProgramBounds] = []
    told: list[tuple[Source, Sequence[Diagnostic]]] = []
    project, files, warnings = Project(), 0, 0
    problem = wrong_setting(project)
    if problem is not None:
        show_error(problem)
    failed = problem is not None
    # A problem outside of scripts is an error, too.
    errors = int(failed)
    read, roots, wire = read_script, Roots(options.root, project=project), project.api
    if options.fix or options.diff:
        # Seldom asked for.
        from saftc.cli.fixing import Fixer

        fixer = Fixer(roots, shows=options.diff)
        failed = not fixer.fix(_scripts_of(arguments)) or failed
        read = fixer.read
    if scripts is None:
        scripts = Scripts(Reads(read), roots=roots)
    for file, checked in _checked(arguments, scripts):
        if isinstance(checked, FileProblem):
            show_error(str(checked))
            failed = True
            errors += 1
            continue
        files += 1
        failed = failed or checked.has_errors
        if file not in UNNAMED:
            path = Path(file)
            warnings += warn_of_name(path.stem, file, package_in(scripts.of(file).folder, path))
        lacking = () if wire is None else checked.options_without_field(wire)
        failed = failed or bool(lacking)
        mistakes = (*checked.diagnostics, *lacking)
        if (bounds or bound is not None) and not checked.has_errors:
            bounded.append(_bounds_of(project, checked))
            passed = None if bound is None else _passed(bounded[-1], bound)
            failed = failed or passed is not None
            mistakes = mistakes if passed is None else (*mistakes, passed)
        found = (*mistakes, *(checked.hints() if options.strict else ()))
        for diagnostic in mistakes:
            errors += diagnostic.severity == "error"
            warnings += diagnostic.severity == "warning"
        if format == "text" and not options.diff:
            between = "\n" if found and any(before for _, before in told) else ""
            write_found(found, checked.source, sys.stdout, between)
        told.append((checked.source, found))
        if len(checked.diagnostics) >= LIMIT:
            show_info(f"{shown(file)}: only the first {LIMIT} are shown; there may be more")
    if format != "text":
        # Seldom asked for.
        from saftc.diagnostics.reports import written

        write_result(_with_bounds(told, bounded) if bounds else written(told, format))
    elif files:
        if bounds and bounded:
            write_result(_bounds_text(bounded))
        show_info(_summary(files, errors, warnings))
        if not (options.fix or options.diff):
            _advise_fixing(told)
    return failed or (options.strict and warnings > 0)


def _advise_fixing(told: list[tuple[Source, Sequence[Diagnostic]]]) -> None:
    in_files = (found for source, found in told if source.name not in UNNAMED.values())
    fixable = sum(bool(it.edits) and not it.is_guess for found in in_files for it in found)
    if fixable:
        show_info(f"`saftc check --fix` can fix {fixable} of these")


def _checked(
    arguments: Sequence[str], scripts: Scripts
) -> Iterator[tuple[str, Checked | FileProblem]]:
    """Checks the named scripts. Yields each with its result, in the given order.

    If a script cannot be read, the result is the problem.
    """
    files, problems = files_of(arguments)
    found: dict[str, Checked | FileProblem] = {**problems}
    # Importers first: they set the root of the scripts that they import.
    for file in sorted(files, key=lambda file: len(Path(file).absolute().parts)):
        if file not in found:
            try:
                found[file] = scripts.check(file)
            except FileProblem as problem:
                found[file] = problem
    return ((file, found[file]) for file in files)


def _scripts_of(arguments: Sequence[str]) -> list[str]:
    """The scripts that the arguments name, without the arguments that cannot name a script."""
    files, problems = files_of(arguments)
    return [file for file in files if file not in problems]


def _bounds_of(project: Project, checked: Checked) -> "ProgramBounds":
    from runtime_support.errors import ConfigError
    from saftc.cost.requests import ProgramBounds
    from saftc.cost.settings import project_limits

    try:
        return ProgramBounds(checked.facts, checked.source, project_limits(), project.compiling())
    except ConfigError as problem:
        raise FileProblem(str(problem)) from None


def _passed(bounds: "ProgramBounds", allowed: int) -> Diagnostic | None:
    from saftc.cost.rendering import too_many

    return too_many(bounds, allowed)


def _bounds_text(bounded: "list[ProgramBounds]") -> str:
    from saftc.cost.rendering import heading, tables

    return f"{heading(bounded[0].limits)}\n{tables(bounded)}"


def _with_bounds(
    told: list[tuple[Source, Sequence[Diagnostic]]], bounded: "list[ProgramBounds]"
) -> str:
    """The diagnostics and the bounds as one JSON object."""
    from saftc.cost.rendering import as_json
    from saftc.diagnostics.render import as_data, render_json

    diagnostics = [one for source, found in told for one in as_data(found, source)]
    return render_json({"diagnostics": diagnostics, "bounds": as_json(bounded)})


def _summary(files: int, errors: int, warnings: int) -> str:
    checked = f"{counted(files, 'file')} checked"
    found = [
        counted(count, word) for count, word in ((errors, "error"), (warnings, "warning")) if count
    ]
    return f"{checked}: {', '.join(found)}" if found else f"{checked}, nothing to report"
