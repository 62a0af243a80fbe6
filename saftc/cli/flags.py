"""The options of `check`, `build` and `approve`, as dataclasses that can be used without typer.

The annotations of their fields name typer, but are evaluated only after typer was imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from saftc.cli.options import InOrder, Root


class Report(StrEnum):
    """The output formats of `saftc check`.

    People read `text`. The other formats are for programs.
    """

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


@dataclass(frozen=True)
class CheckOptions:
    """The options of `saftc check`."""

    format: Annotated[Report, typer.Option(help="The format of the report.")] = Report.text
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit 1 for warnings, too; add hints about types left to run time."
        ),
    ] = False
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Fix the mistakes that have only one fix, then check."),
    ] = False
    diff: Annotated[
        bool, typer.Option("--diff", help="Write nothing; show what --fix would change.")
    ] = False
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Show how many requests each function sends at most.")
    ] = False
    bound: Annotated[
        int | None,
        typer.Option(
            help="Report an error if a script may send more than N requests.", metavar="N", min=0
        ),
    ] = None
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Keep running, and check again what changes, until Ctrl-C."),
    ] = False
    root: Root = None


@dataclass(frozen=True)
class BuildOptions:
    """The options of `saftc build`."""

    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", help="The module to write; `-` is standard output.", metavar="PATH"
        ),
    ] = None
    out_dir: Annotated[
        Path | None,
        typer.Option(help="The folder for the modules, created if missing.", metavar="FOLDER"),
    ] = None
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 when a module is out of date.")
    ] = False
    diff: Annotated[
        bool, typer.Option("--diff", help="Write nothing; show what would change.")
    ] = False
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a file that saftc did not write.")
    ] = False
    source_map: Annotated[
        bool,
        typer.Option(
            "--source-map", help="Also write NAME.py.map: errors then name the script's lines."
        ),
    ] = False
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Keep running, and build again what changes, until Ctrl-C."),
    ] = False
    tools: Annotated[
        str | None,
        typer.Option(
            help="For plans: the module with the functions that they call.", metavar="MODULE"
        ),
    ] = None
    no_overlap: InOrder = False
    is_async: Annotated[
        bool,
        typer.Option("--async", help="Write `async` functions, for use in an event loop."),
    ] = False
    suffix: Annotated[
        str,
        typer.Option(
            help="With --async: a suffix for the names of the modules, such as _async.",
            metavar="TEXT",
        ),
    ] = ""
    ships_settings: Annotated[
        bool | None,
        typer.Option(
            "--embed-settings/--no-embed-settings",
            help="Embed the prompt settings of [tool.saft] in the modules, or not. Default: as in "
            "the existing modules.",
        ),
    ] = None
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Write each module beside its script (the default).")
    ] = False
    root: Root = None


@dataclass(frozen=True)
class ApproveOptions:
    """The options of `saftc approve`: the decision, and the ids of the calls that it is about."""

    yes: Annotated[bool, typer.Option("--yes", help="Allow the call.")] = False
    deny: Annotated[
        str | None,
        typer.Option(help="Refuse the call; the model gets the reason.", metavar="REASON"),
    ] = None
    arguments: Annotated[
        str | None,
        typer.Option(help="Allow the call, with these arguments instead.", metavar="JSON"),
    ] = None
    call: Annotated[
        list[str] | None,
        typer.Option(help="The id of the call, if several wait; may be repeated.", metavar="ID"),
    ] = None
    retry: Annotated[
        bool,
        typer.Option("--retry", help="The call in doubt took no effect: make it again."),
    ] = False
    result: Annotated[
        str | None,
        typer.Option(help="The call in doubt took effect, with this result.", metavar="RESULT"),
    ] = None
    decide_only: Annotated[
        bool,
        typer.Option("--decide-only", help="Only decide; do not resume the run."),
    ] = False
