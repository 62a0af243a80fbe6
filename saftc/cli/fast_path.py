"""Running, checking and building scripts, known without typer and without the compiler.

    at_once(["run", "triage.saft"])             what does it
    at_once(["run", "triage.saft", "--usage"])  None: there are options, which `saftc.cli.app` reads

Loading typer takes longer than checking a script or running one that was compiled before, so that
commands without options are done without it.
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
    """What runs, checks or builds scripts, if these words ask for that without options; None if
    they do not.
    """
    if not words or "_SAFTC_COMPLETE" in os.environ:  # a shell asks what could be written
        return None
    name, *rest = ["run", *words] if words[0].endswith(".saft") else words
    own = rest[: rest.index("--")] if "--" in rest else rest
    if any(word.startswith("-") and word != "-" for word in (name, *own)):
        return None
    if name == "run" and own:
        # The first `--` is the command's, all others are the script's.
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


def tell_beginning(words: Sequence[str]) -> None:
    """Says at a terminal that the script of these words is checked, before that is loaded."""
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
    """Compiles a script and runs it: the first of `words`, with the others as its arguments.

    With `text` it is that, and all words are arguments; with neither, it is standard input. The
    settings of `project` were looked at.
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
    said = workspace.said(module, width_of(sys.stderr), when_used=True)
    write_rendered(said, sys.stderr)
    if module.text is None:
        return 1
    from saftc.cli.commands.run import refuse_undecided, run_module

    refuse_undecided(module)
    return run_module(module, workspace, arguments)
