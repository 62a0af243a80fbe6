"""The options of `check`, `build` and `approve`, readable without typer: the annotations for typer
are not evaluated until it is loaded.
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
    """The formats of `saftc check`: text for people, the others for programs."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


@dataclass(frozen=True)
class CheckOptions:
    """What `saftc check` does with scripts."""

    format: Annotated[Report, typer.Option(help="How to write what was found.")] = Report.text
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit 1 for warnings, too; add hints on what run time decides."
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
        typer.Option(help="An error for scripts that may send more requests.", metavar="N", min=0),
    ] = None
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Stay, and check again what changes, until interrupted."),
    ] = False
    root: Root = None


@dataclass(frozen=True)
class BuildOptions:
    """What `saftc build` writes, and where."""

    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="The module to write, `-` for standard output."),
    ] = None
    out_dir: Annotated[
        Path | None, typer.Option(help="The folder to write NAME.py into, made when missing.")
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
        typer.Option("--source-map", help="Also write NAME.py.map, for positions in errors."),
    ] = False
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Stay, and build again what changes, until interrupted."),
    ] = False
    tools: Annotated[
        str | None,
        typer.Option(help="For plans: the module whose functions they call.", metavar="MODULE"),
    ] = None
    no_overlap: InOrder = False
    is_async: Annotated[
        bool,
        typer.Option("--async", help="Write `async` functions, for use in an event loop."),
    ] = False
    suffix: Annotated[
        str,
        typer.Option(
            help="With --async: what the names of the modules end with, such as _async.",
            metavar="TEXT",
        ),
    ] = ""
    ships_settings: Annotated[
        bool | None,
        typer.Option(
            "--embed-settings/--no-embed-settings",
            help="Have modules take with them what [tool.saft] says of their prompts, or not; "
            "otherwise they stay as they are.",
        ),
    ] = None
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Write each module beside its script (the default).")
    ] = False
    root: Root = None


@dataclass(frozen=True)
class ApproveOptions:
    """What `saftc approve` decides, and the ids of the calls."""

    yes: Annotated[bool, typer.Option("--yes", help="The call may be made.")] = False
    deny: Annotated[
        str | None,
        typer.Option(help="It may not; the model gets the reason.", metavar="REASON"),
    ] = None
    arguments: Annotated[
        str | None,
        typer.Option(help="It may, with these arguments instead.", metavar="JSON"),
    ] = None
    call: Annotated[
        list[str] | None,
        typer.Option(help="The id of the call, if several wait; may be repeated.", metavar="ID"),
    ] = None
    retry: Annotated[
        bool,
        typer.Option("--retry", help="A call in doubt took no effect: make it again."),
    ] = False
    result: Annotated[
        str | None,
        typer.Option(help="A call in doubt took effect, with this result.", metavar="RESULT"),
    ] = None
    decide_only: Annotated[
        bool,
        typer.Option("--decide-only", help="Only decide; run the same command again to resume."),
    ] = False
