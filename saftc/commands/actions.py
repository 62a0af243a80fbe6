"""What the commands do that are used most, known without typer and without the compiler.

    at_once(["run", "triage.saft"])             what does it
    at_once(["run", "triage.saft", "--usage"])  None: there are options, which `saftc.cli` reads

Loading typer takes longer than running a script that was compiled before, so that a command
without options is done without it. Each action gives the exit code.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from saftc.commands.process import no_garbage_collector, print_everything
from saftc.commands.reporting import WrongUsage, complain, say, write_rendered

if TYPE_CHECKING:
    from saftc.project.settings import Project


def at_once(words: Sequence[str]) -> Callable[[], int] | None:
    """What does the command of these words, if it is one without options; None if it is not."""
    if not words or "_SAFTC_COMPLETE" in os.environ:  # a shell asks what could be written
        return None
    name, *rest = ["run", *words] if words[0].endswith(".saft") else words
    own = rest[: rest.index("--")] if "--" in rest else rest
    if any(word.startswith("-") and word != "-" for word in (name, *own)):
        return None
    if name == "run" and own:
        # The first `--` is the command's, all others are the script's.
        return partial(run, [*own, *rest[len(own) + 1 :]])
    action = _OF_FILES.get(name)
    if action is not None and own and own == rest:
        return partial(_written_whole, partial(action, own))
    return partial(_written_whole, lsp) if name == "lsp" and not rest else None


def _written_whole(action: Callable[[], int]) -> int:
    print_everything(sys.stdout)
    return action()


def refuse_wrong_settings() -> "Project":
    """The project around the working folder, whose settings are those that they may be.

    Raises:
        WrongUsage: One of the surroundings is misspelt or has a wrong value; the text says where.
        FileProblem: The project file cannot be read.
    """
    from saftc.project.settings import Project

    project = Project()
    problem = _wrong_setting(project)
    if problem is not None:
        raise WrongUsage(problem)
    return project


def _wrong_setting(project: "Project") -> str | None:
    """What is wrong with settings of the environment, of the project, or of the user."""
    from saftc.user_cache import has_settings

    # Only where something is set need the runtime's settings be loaded.
    of_prompts = os.environ.keys() - {"SAFT_CACHE_DIR", "SAFT_NO_CACHE"}
    has_variables = any(name.startswith("SAFT_") for name in of_prompts)
    if has_variables or project.of_prompts or has_settings():
        from runtime_support.errors import ConfigError
        from saftc.runtime import settings_to_show

        try:
            settings_to_show()
        except ConfigError as problem:
            return str(problem)
    return None


def run(
    words: Sequence[str],
    project: "Project | None" = None,
    *,
    text: str | None = None,
    in_order: bool = False,
    root: Path | None = None,
) -> int:
    """Compiles a script and runs it: the first of `words`, with the others as its arguments.

    With `text` it is that, and all words are arguments; with neither, it is standard input. The
    settings of `project` were looked at.
    """
    from saftc.project.workspace import open_workspace

    project = refuse_wrong_settings() if project is None else project
    workspace = open_workspace(in_order=in_order, root=root, project=project)
    if text is not None:
        workspace.give("-c", text.encode())
        words = ["-c", *words]
    file, *arguments = words or ["-"]
    module = workspace.compile(file)
    workspace.close()
    write_rendered(module.said_when_used, sys.stderr)
    if module.text is None:
        return 1
    from saftc.commands.run import refuse_undecided, run_module

    refuse_undecided(module)
    return run_module(module, workspace, arguments)


def build(
    arguments: Sequence[str],
    *,
    output: str | None = None,
    out_dir: Path | None = None,
    check: bool = False,
    diff: bool = False,
    force: bool = False,
    source_map: bool = False,
    tools: str | None = None,
    watch: bool = False,
    in_order: bool = False,
    is_async: bool = False,
    suffix: str = "",
    ships_settings: bool | None = None,
    in_place: bool = False,
    root: Path | None = None,
) -> int:
    """Compiles scripts, or plans that call the functions of the module `tools`, to modules.

    With `watch`, again and again, when they change. None for `ships_settings` keeps what is there.
    """
    from saftc.commands.build import Builder, refuse_collisions, shipped_settings, targets_of
    from saftc.project.files import make_folder
    from saftc.project.workspace import Workspace, open_workspace

    if in_place and (output is not None or out_dir is not None):
        raise WrongUsage("--in-place writes each module beside its script: leave -o, --out-dir out")
    if suffix and not is_async:
        raise WrongUsage("--suffix names the modules of the async form: give --async as well")
    if suffix and not f"x{suffix}".isidentifier():
        raise WrongUsage(f"--suffix is a part of the names of modules, and {suffix} cannot be one")
    arguments = arguments or _of_project(root)

    def targets() -> list[tuple[str, Path | None]]:
        found = targets_of(arguments, output, out_dir, root, suffix)
        _refuse_mixture([file for file, _ in found], tools, source_map, is_async)
        refuse_collisions(found)
        if out_dir is not None and not (check or diff):
            for folder in {target.parent for _, target in found if target is not None}:
                make_folder(folder)
        return found

    def write(workspace: Workspace, is_first: bool = True) -> bool:
        builder = Builder(
            workspace,
            check=check,
            diff=diff,
            force=force,
            source_map=source_map,
            words=[
                *(["--async"] if is_async else []),
                *(["--suffix", suffix] if suffix else []),
                *({True: ["--settings"], False: ["--no-settings"], None: []}[ships_settings]),
            ],
            is_again=not is_first,
            is_async=is_async,
            suffix=suffix,
        )
        if tools is not None:
            from saftc.plans.compiling import PlanBuilder

            return PlanBuilder(builder, tools).build_all(targets())
        return builder.build_all([one for one in targets() if not workspace.has(one[0])])

    targets()  # wrong usage is reported before anything else

    def opened() -> Workspace:
        return open_workspace(
            in_order=in_order,
            is_async=is_async,
            suffix=suffix,
            defaults=shipped_settings(ships_settings, targets()),
            root=root,
        )

    if watch:
        refused = {"--check": check, "--diff": diff, "--tools": tools}
        _refuse_watching(arguments, refused, "writes the modules of scripts")
        from saftc.commands.watching import watch_scripts
        from saftc.project.workspace import load_compiler

        # What is in the cache does not load it.
        watch_scripts(arguments, opened, write, load=load_compiler)
    with no_garbage_collector():
        return 0 if write(opened()) else 1


def _of_project(root: Path | None) -> list[str]:
    """The folder whose scripts are built where none is named.

    Raises:
        WrongUsage: The project does not say that its modules are beside its scripts.
    """
    from saftc.project.settings import Project

    project = Project()
    if not project.builds_in_place:
        raise WrongUsage(
            "name the scripts or folders to build; without names, saftc build builds all scripts "
            "of a project whose pyproject.toml says [tool.saft] in-place = true"
        )
    folder = root or project.root or Path()
    return [os.path.relpath(folder)]


def check(
    files: Sequence[str],
    *,
    format: str = "text",
    strict: bool = False,
    root: Path | None = None,
    bounds: bool = False,
    max_requests: int | None = None,
    fix: bool = False,
    diff: bool = False,
    watch: bool = False,
) -> int:
    """Reports what is wrong with scripts, and fixes what it can; see `saftc.commands.check`.

    With `watch`, again and again until it is interrupted, when they change.
    """
    from saftc.commands.check import check_all
    from saftc.project.settings import Project

    if watch:
        refused = {"--fix": fix, "--diff": diff, "--format": format != "text"}
        _refuse_watching(files, refused, "reports mistakes as text")
        _watch_mistakes(files, strict=strict, root=root, bounds=bounds, max_requests=max_requests)
    if fix and "-" in files and not diff:
        raise WrongUsage(
            "--fix changes files, and `-` is standard input; --diff shows what would change"
        )
    if diff and (format != "text" or bounds):
        raise WrongUsage("--diff goes with no other option: leave the others out")
    if bounds and format not in ("text", "json"):
        raise WrongUsage(f"--bounds can be text or json, not {format}")
    project = Project()
    problem = _wrong_setting(project)
    if problem is not None:
        complain(problem)
    with no_garbage_collector():
        failed = check_all(
            files,
            project,
            format=format,
            strict=strict,
            root=root,
            bounds=bounds,
            max_requests=max_requests,
            fix=fix,
            diff=diff,
        )
        return 1 if failed or problem else 0


def _watch_mistakes(files: Sequence[str], *, root: Path | None, **options: Any) -> NoReturn:
    from saftc.commands.check import check_all
    from saftc.commands.watching import watch_scripts
    from saftc.project.settings import Project
    from saftc.project.workspace import Workspace

    def report(workspace: Workspace, is_first: bool) -> None:
        if not is_first:
            say("")
        check_all(files, Project(), root=root, scripts=workspace.scripts, **options)

    watch_scripts(files, lambda: Workspace(None, root=root), report)


def fmt(files: Sequence[str], *, check: bool = False, diff: bool = False) -> int:
    """Formats scripts in place."""
    from saftc.commands.fmt import Formatter

    formatter = Formatter(check=check, diff=diff)
    for file in files:
        formatter.format(file)
    return 1 if formatter.has_failed else 0


def lsp() -> int:
    """Answers an editor over standard input and output."""
    try:
        from saftc.lsp.server import serve
    except ModuleNotFoundError as problem:
        if problem.name not in ("pygls", "lsprotocol"):
            raise
        complain("saftc lsp needs the package pygls: pip install pygls")
        return 1
    serve()
    return 0


_OF_FILES: dict[str, Callable[[Sequence[str]], int]] = {"build": build, "check": check, "fmt": fmt}


def _refuse_watching(arguments: Sequence[str], options: Mapping[str, object], what: str) -> None:
    for option, is_given in options.items():
        if is_given:
            raise WrongUsage(f"--watch {what}: leave {option} out")
    if "-" in arguments:
        raise WrongUsage("--watch needs scripts in files, and `-` is standard input")


def _refuse_mixture(
    files: Sequence[str], tools: str | None, source_map: bool, is_async: bool
) -> None:
    """Plans need tools, scripts have none, and one command is for the one or the other."""
    plans = [file for file in files if file.endswith(".json")]
    if plans and tools is None:
        raise WrongUsage(f"{plans[0]} is a plan: say with --tools MODULE whose functions it calls")
    if tools is not None and len(plans) < len(files):
        script = next(file for file in files if file not in plans)
        raise WrongUsage(
            f"--tools is for plans, and {script} is not a plan: name it NAME.json, or leave "
            "--tools out"
        )
    for option, is_given in (("--source-map", source_map), ("--async", is_async)):
        if plans and is_given:
            raise WrongUsage(f"{option} is for scripts")
