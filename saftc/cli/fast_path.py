"""A fast path for `saftc run`, `check` and `build` without options: typer is not imported.

    command_without_options(["run", "triage.saft"])             a function that runs the script
    command_without_options(["run", "triage.saft", "--usage"])  None: `saftc.cli.app` reads options

Importing typer takes longer than checking a script or running a cached one.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from saftc.cli.process import print_everything
from saftc.cli.progress import end_status, show_status
from saftc.reporting import refuse_wrong_settings, width_of, write_rendered

if TYPE_CHECKING:
    from saftc.project.settings import Project


def command_without_options(words: Sequence[str]) -> Callable[[], int] | None:
    """A function that runs the command in `words`; None if typer must parse the words.

    Only `run`, `check` and `build` without options can run without typer.
    """
    if not words or "_SAFTC_COMPLETE" in os.environ:  # set by a shell that asks for completions
        return None
    name, *rest = ["run", *words] if words[0].endswith(".saft") else words
    own = rest[: rest.index("--")] if "--" in rest else rest
    if any(word.startswith("-") and word != "-" for word in (name, *own)):
        return None
    if name == "run" and own:
        # The first `--` ends the command's own words; any other is an argument of the script.
        return partial(run, [*own, *rest[len(own) + 1 :]])
    if name in ("check", "build") and own == rest != []:
        return partial(_check_or_build, name, rest)
    return None


def _check_or_build(name: str, files: Sequence[str]) -> int:
    from saftc.cli.flags import BuildOptions, CheckOptions

    print_everything(sys.stdout)
    if name == "check":
        from saftc.cli.commands.check import check_scripts

        return check_scripts(files, CheckOptions())
    from saftc.cli.commands.build import build_scripts

    return build_scripts(files, BuildOptions())


def announce_start(words: Sequence[str]) -> None:
    """Shows at a terminal which script `run` is checking.

    It is called before the checker is imported, as the import takes long.
    """
    name = words[0] if words else ""
    script = next((word for word in words if word.endswith(".saft")), None)
    is_heard = not {"-q", "--quiet", "-h", "--help"} & {*words}
    if script and is_heard and (name == "run" or name.endswith(".saft")):
        show_status(f"checking {script}")


def run(
    words: Sequence[str],
    project: "Project | None" = None,
    *,
    text: str | None = None,
    in_order: bool = False,
    root: Path | None = None,
) -> int:
    """Compiles a script and runs it. Returns the exit code.

    The first of `words` names the script, and the others are its arguments. If `text` is given, it
    is the script, and all words are arguments. Without words and `text`, the script is read from
    standard input. The settings of `project` must have been checked.
    """
    from saftc.project.workspace import open_workspace

    project = refuse_wrong_settings() if project is None else project
    workspace = open_workspace(in_order=in_order, root=root, project=project)
    if text is not None:
        workspace.reads.give("-c", text.encode())
        words = ["-c", *words]
    file, *arguments = words or ["-"]
    module = workspace.compile(file)
    workspace.close()
    end_status()
    said = workspace.diagnostics_of(module, width_of(sys.stderr), when_used=True)
    write_rendered(said, sys.stderr)
    if module.text is None:
        return 1
    from saftc.cli.commands.run import refuse_undecided, run_module

    refuse_undecided(module)
    return run_module(module, workspace, arguments)
