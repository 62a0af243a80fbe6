"""The command line: files, colour and exit codes.

Exit codes: 0 fine; 1 something is wrong with a script or a file; 2 wrong usage; 3 a bug in saftc.
"""

import gc
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from saftc._version import __version__
from saftc.commands.arguments import in_order
from saftc.commands.cache import cache
from saftc.commands.options import (
    ApiKeyEnv,
    BaseUrl,
    Chrome,
    Log,
    MaxCost,
    MaxRequests,
    MaxToolCalls,
    MaxToolRounds,
    MaxTotalTokens,
    Model,
    OutputFormat,
    Provider,
    Record,
    Replay,
    Temperature,
    Timeline,
    json_pairs,
    number_or_share,
    pairs,
    set_variables,
)
from saftc.commands.reporting import Colour, complain, manner, write_rendered
from saftc.commands.streams import give_up_output, open_closed_streams, print_everything

if TYPE_CHECKING:
    from saftc.project.workspace import Workspace

_INTERRUPTED = 130

app = typer.Typer(
    name="saftc",
    help="Compile Saft, a small language in which a prompt is an expression, to readable Python.",
    epilog="`saftc script.saft` is short for `saftc run script.saft`, `saftc -c TEXT` for "
    "`saftc run -c TEXT`. The options above may stand anywhere in the command.",
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Files = Annotated[
    list[str],
    typer.Argument(
        help="Scripts, or folders for all scripts below them; `-` is standard input.",
        metavar="FILE",
    ),
]


class Format(StrEnum):
    """How diagnostics are written."""

    text = "text"
    json = "json"


class Report(StrEnum):
    """How what is wrong with scripts is written: for people, or for which program."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


def _version(value: bool) -> None:
    if value:
        print(f"saftc {__version__}")
        raise typer.Exit


@app.callback()
def saftc(
    context: typer.Context,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Compile everything anew, and remember nothing."),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("-q", "--quiet", help="Tell what is wrong, and nothing else."),
    ] = False,
    color: Annotated[
        Colour,
        typer.Option(help="Colour in diagnostics; auto: on a terminal, as NO_COLOR allows."),
    ] = Colour.auto,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """The commands."""
    manner.is_quiet, manner.colour = quiet, color
    if quiet:
        set_variables(usage=0)
    if no_cache:
        # For the processes that help with the compiling, too.
        os.environ["SAFT_NO_CACHE"] = "1"
    if context.invoked_subcommand != "run":
        # What a script prints is its own affair.
        print_everything(sys.stdout)


_InOrder = Annotated[
    bool, typer.Option("--no-overlap", help="Ask all prompts one after the other.")
]


def _workspace(*, in_order: bool = False, is_async: bool = False) -> "Workspace":
    """The scripts of this command, with the cache unless it is not wanted."""
    from saftc.project.cache import Cache
    from saftc.project.settings import compile_settings
    from saftc.project.workspace import Workspace
    from saftc.user_cache import cache_in_use

    folder = cache_in_use()
    overlapping = compile_settings(in_order=in_order, is_async=is_async)
    cache = None if folder is None else Cache(folder, overlapping)
    return Workspace(cache, overlapping)


@app.command()
def build(
    files: Files,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="The module to write, `-` for standard output."),
    ] = None,
    out_dir: Annotated[
        Path | None, typer.Option(help="The folder to write NAME.py into, made when missing.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 when a module is out of date.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Write nothing; show what would change.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a file that saftc did not write.")
    ] = False,
    source_map: Annotated[
        bool,
        typer.Option("--source-map", help="Also write NAME.py.map, for positions in errors."),
    ] = False,
    tools: Annotated[
        str | None,
        typer.Option(help="For plans: the module whose functions they call.", metavar="MODULE"),
    ] = None,
    no_overlap: _InOrder = False,
    is_async: Annotated[
        bool,
        typer.Option("--async", help="Write `async` functions, for use in an event loop."),
    ] = False,
) -> None:
    """Compile scripts, or plans with --tools, to Python modules.

    A plan is a program in JSON, NAME.json. Without -o or --out-dir, script.saft becomes script.py
    beside it. A sibling script that a script imports is compiled with it.
    """
    from saftc.project.files import make_folder, scripts_below

    arguments = files
    files = [file for argument in arguments for file in scripts_below(argument)]
    if output is not None and (files != arguments or len(files) > 1 or out_dir is not None):
        _stop("-o names one module: give it one script, or use --out-dir")
    _refuse_mixture(files, tools, source_map, is_async)
    targets = [
        _target(file, Path(argument), output, out_dir)
        for argument in arguments
        for file in scripts_below(argument)
    ]
    _refuse_collisions(files, targets)
    from saftc.commands.build import Builder

    if out_dir is not None and not (check or diff):
        for folder in {target.parent for target in targets if target is not None}:
            make_folder(folder)
    builder = Builder(
        _workspace(in_order=no_overlap, is_async=is_async),
        check=check,
        diff=diff,
        force=force,
        source_map=source_map,
        words=["--async"] if is_async else [],
    )
    pairs = list(zip(files, targets, strict=True))
    with _no_garbage_collector():
        if tools is None:
            went_well = builder.build_all(pairs)
        else:
            from saftc.plans.building import PlanBuilder

            went_well = PlanBuilder(builder, tools).build_all(pairs)
    raise typer.Exit(0 if went_well else 1)


@app.command()
def check(
    files: Files,
    format: Annotated[Report, typer.Option(help="How to write what was found.")] = Report.text,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit 1 for warnings, too; tell what is left to run time, as hints."
        ),
    ] = False,
) -> None:
    """Report what is wrong with scripts, without writing anything."""
    from saftc.commands.check import check_all

    with _no_garbage_collector():
        failed = check_all(files, format=format.value, strict=strict)
    raise typer.Exit(1 if failed else 0)


@app.command()
def fmt(
    files: Files,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 when a script is not formatted.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Write nothing; show what would change.")
    ] = False,
) -> None:
    """Format scripts in place; standard input goes to standard output."""
    from saftc.commands.fmt import Formatter

    formatter = Formatter(check=check, diff=diff)
    for file in files:
        formatter.format(file)
    raise typer.Exit(1 if formatter.has_failed else 0)


@app.command()
def explain(
    code: Annotated[
        str | None, typer.Argument(help="The code of a diagnostic; all are listed without it.")
    ] = None,
) -> None:
    """Tell what a diagnostic means, with a wrong example and a right one."""
    from saftc.commands.explain import UnknownCode, index, page

    try:
        sys.stdout.write(index() if code is None else page(code))
    except UnknownCode as problem:
        _stop(str(problem))


@app.command()
def prompts(
    file: Annotated[str, typer.Argument(help="The script; `-` is standard input.", metavar="FILE")],
    format: Annotated[Format, typer.Option(help="How to write the requests.")] = Format.text,
    imports: Annotated[
        bool,
        typer.Option(
            "--import", help="Import the Python modules that offer tools: their code runs."
        ),
    ] = False,
) -> None:
    """Show the request that each prompt of a script will send.

    Nothing of the script runs and no model is asked. What is known only when it runs is marked by
    its source: «mail».
    """
    from saftc.commands.prompts import show_prompts
    from saftc.project.settings import compile_settings

    as_json, settings = format is Format.json, compile_settings()
    raise typer.Exit(show_prompts(file, as_json=as_json, imports=imports, overlapping=settings))


@app.command(context_settings={"allow_interspersed_args": True})
def run(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="The script, `-` for standard input, and its own arguments, after `--`.",
            metavar="[FILE] [ARGUMENTS]",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("-c", help="A script, instead of a file that holds it.", metavar="TEXT"),
    ] = None,
    provider: Provider = None,
    model: Model = None,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = None,
    temperature: Temperature = None,
    max_tool_rounds: MaxToolRounds = None,
    max_tool_calls: MaxToolCalls = None,
    max_requests: MaxRequests = None,
    max_total_tokens: MaxTotalTokens = None,
    max_cost: MaxCost = None,
    journal: Annotated[
        str | None,
        typer.Option(
            help="Keep the run in this file; the same command goes on with it.", metavar="FILE"
        ),
    ] = None,
    record: Record = None,
    replay: Replay = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show what is sent and received, on standard error.")
    ] = False,
    usage: Annotated[
        bool, typer.Option("--usage", help="Tell at the end what the run took.")
    ] = False,
    log: Log = None,
    timeline: Timeline = None,
    chrome: Chrome = None,
    no_overlap: _InOrder = False,
) -> None:
    """Compile a script in memory and run it.

    The options set the SAFT_ variables of the environment for this run.
    """
    set_variables(
        provider=provider,
        model=model,
        base_url=base_url,
        api_key_env=api_key_env,
        temperature=temperature,
        max_tool_rounds=max_tool_rounds,
        max_tool_calls=max_tool_calls,
        max_in_flight=1 if no_overlap else None,
        max_requests=max_requests,
        max_total_tokens=max_total_tokens,
        max_cost=max_cost,
        journal=journal,
        record=record,
        replay=replay,
        trace=1 if trace else None,
        usage=1 if usage else None,
        log=log,
        timeline=timeline,
        chrome=chrome,
    )
    if replay is not None:
        from saftc.commands.run import advise_recording

        advise_recording(replay)
    workspace = _workspace(in_order=no_overlap)
    arguments = words or []
    if text is not None:
        workspace.give("-c", text.encode())
        arguments = ["-c", *arguments]
    if not arguments and _is_terminal():
        _stop("saftc run needs a script: FILE, -c TEXT, or one on standard input")
    file, *arguments = arguments or ["-"]
    module = workspace.compile(file)
    workspace.close()
    write_rendered(module.said_when_used, sys.stderr)
    if module.text is None:
        raise typer.Exit(1)
    from saftc.commands.run import run_module

    raise typer.Exit(run_module(module, workspace, arguments))


@app.command("map")
def map_(
    target: Annotated[
        str, typer.Argument(help="The function of a script.", metavar="SCRIPT:FUNCTION")
    ],
    table: Annotated[
        str, typer.Argument(help="The rows: .parquet, .csv or .jsonl.", metavar="TABLE")
    ],
    out: Annotated[
        str, typer.Argument(help="The folder of the output, made when missing.", metavar="FOLDER")
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(help="Where names differ; may be given again.", metavar="PARAMETER=COLUMN"),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="An argument that is the same for all rows; may be given again.",
            metavar="PARAMETER=JSON",
        ),
    ] = None,
    keep: Annotated[
        str, typer.Option(help="Columns that stand in the output, with commas; or all, or none.")
    ] = "all",
    format: Annotated[
        OutputFormat | None, typer.Option(help="The output's; without it as the input's.")
    ] = None,
    in_flight: Annotated[int, typer.Option(min=1, help="Rows at once, in each process.")] = 64,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes here, by Dask; without it this one.")
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="The scheduler of a cluster of Dask.", metavar="URL")
    ] = None,
    row_timeout: Annotated[
        float | None,
        typer.Option(help="A row fails that takes longer, in seconds.", metavar="SECONDS"),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many rows.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Tell what can be known to go wrong; ask nothing.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask the rows again that have failed.")
    ] = False,
    max_failed: Annotated[
        str | None,
        typer.Option(help="Stop when more rows fail: a number, or a share.", metavar="N|N%"),
    ] = None,
    keep_journals: Annotated[
        bool, typer.Option("--keep-journals", help="Keep what was asked and answered.")
    ] = False,
    requests_per_minute: Annotated[
        float | None, typer.Option(help="Requests a minute, of all processes.")
    ] = None,
    tokens_per_minute: Annotated[
        float | None, typer.Option(help="Tokens a minute, of all processes.")
    ] = None,
    provider: Provider = None,
    model: Model = None,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = None,
    temperature: Temperature = None,
    max_tool_rounds: MaxToolRounds = None,
    max_tool_calls: MaxToolCalls = None,
    max_requests: MaxRequests = None,
    max_total_tokens: MaxTotalTokens = None,
    max_cost: MaxCost = None,
    record: Record = None,
    replay: Replay = None,
    log: Log = None,
    no_overlap: _InOrder = False,
) -> None:
    """Call a function of a script for each row of a table.

    The same command goes on where it was stopped. A row that fails is told in errors-*.jsonl, and
    the others go on.
    """
    set_variables(
        provider=provider,
        model=model,
        base_url=base_url,
        api_key_env=api_key_env,
        temperature=temperature,
        max_tool_rounds=max_tool_rounds,
        max_tool_calls=max_tool_calls,
        max_in_flight=1 if no_overlap else None,
        max_requests=max_requests,
        max_total_tokens=max_total_tokens,
        max_cost=max_cost,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        record=record,
        replay=replay,
        log=log,
    )
    from saftc.commands.mapping import map_script

    options = {
        "columns": pairs("--column", column or []),
        "constants": json_pairs("--set", set_ or []),
        "keep": keep if keep in ("all", "none") else keep.split(","),
        "format": None if format is None else format.value,
        "in_flight": in_flight,
        "workers": workers,
        "address": address,
        "row_timeout": row_timeout,
        "limit": limit,
        "check_only": check,
        "retry_failed": retry_failed,
        "max_failed": None if max_failed is None else number_or_share("--max-failed", max_failed),
        "keep_journals": keep_journals,
    }
    raise typer.Exit(map_script(target, table, out, _workspace(in_order=no_overlap), options))


@app.command()
def trace(
    file: Annotated[str, typer.Argument(help="The journal of a run.", metavar="FILE")],
    html: Timeline = None,
    chrome: Chrome = None,
) -> None:
    """Show what a run with a journal has asked, and what was answered."""
    from saftc.commands.journals import draw_timeline, show_trace

    if html is None and chrome is None:
        raise typer.Exit(show_trace(file))
    raise typer.Exit(draw_timeline(file, html, chrome))


@app.command()
def runs(
    folder: Annotated[str, typer.Argument(help="Where to look.", metavar="FOLDER")] = ".",
) -> None:
    """List the journals in a folder: how far each run came, and what it took."""
    from saftc.commands.journals import show_runs

    raise typer.Exit(show_runs(folder))


@app.command()
def lsp() -> None:
    """Answer an editor over standard input and output, by the language server protocol.

    Nothing of a script runs, and nothing is sent.
    """
    try:
        from saftc.lsp.server import serve
    except ModuleNotFoundError as problem:
        if problem.name not in ("pygls", "lsprotocol"):
            raise
        complain("saftc lsp needs the package pygls: pip install pygls")
        raise typer.Exit(1) from None
    serve()


@app.command()
def play(
    file: Annotated[
        Path, typer.Argument(help="The script to write; one that is not there begins as hello.")
    ] = Path("play.saft"),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port of the page; 0: one that is free.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Leave the browser alone, and only tell the address.")
    ] = False,
) -> None:
    """Write and run a script on a page in the browser, with its Python and its requests beside it.

    The page is on this machine only, and answers only who has its address.
    """
    try:
        from saftc.play.server import play as serve_page
    except ModuleNotFoundError as problem:
        if problem.name not in ("starlette", "uvicorn"):
            raise
        complain(
            "saftc play needs other packages: pip install pygls starlette uvicorn websockets"
        )
        raise typer.Exit(1) from None
    try:
        serve_page(file, port, opens=not no_open)
    except OSError as problem:
        complain(f"cannot serve on port {port}: {problem.strerror or problem}")
        raise typer.Exit(1) from None


def _is_terminal() -> bool:
    return sys.stdin.isatty()


app.add_typer(cache, name="cache", context_settings={"help_option_names": ["-h", "--help"]})


def main() -> None:
    """Entry point of the command `saftc`."""
    open_closed_streams()
    print_everything(sys.stderr)
    from saftc.project.files import FileProblem

    try:
        command: Any = typer.main.get_command(app)
        words = in_order(sys.argv[1:], command)
        code = command(words, prog_name="saftc", standalone_mode=False)
        if code == _INTERRUPTED:  # which typer has made of a KeyboardInterrupt
            raise KeyboardInterrupt
        sys.stdout.flush()
    except typer.TyperException as problem:
        complain(f"{problem.format_message()}\nsaftc --help tells more")
        code = 2
    except FileProblem as problem:
        complain(str(problem))
        code = 1
    except (KeyboardInterrupt, typer.Abort):
        # From now on, a second one ends the process at once.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        complain("interrupted")
        code = _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        give_up_output()
        code = 1
    except OSError as problem:
        if problem.filename is not None:
            _bug()
            code = 3
        else:
            give_up_output()
            complain(f"cannot write the output: {problem.strerror or problem}")
            code = 1
    except SystemExit:
        raise
    except Exception:
        _bug()
        code = 3
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _no_garbage_collector() -> Generator[None, None, None]:
    """For a command that ends the process: nothing looks for cycles among the objects it makes.

    A long script is a million objects. Without the freezing, the collections that follow, above
    all the interpreter's last one, would go through those that are left, to free what the end of
    the process frees anyway.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _bug() -> None:
    import traceback

    traceback.print_exc()
    complain(
        f"this is a bug in saftc {__version__}: please report it with the lines above and the "
        "script, if you can share it"
    )


def _target(file: str, argument: Path, output: str | None, out_dir: Path | None) -> Path | None:
    """The module that `file` becomes; None for standard output.

    Scripts that the argument was the folder of stand in `out_dir` as they do there.
    """
    if output is not None:
        return None if output == "-" else Path(output)
    if file == "-":
        return None
    script = Path(file)
    if out_dir is None:
        return script.with_suffix(".py")
    inner = Path(script.name) if script == argument else script.relative_to(argument)
    return out_dir / inner.with_suffix(".py")


def _refuse_mixture(files: list[str], tools: str | None, source_map: bool, is_async: bool) -> None:
    """Plans need tools, scripts have none, and one command is for the one or the other."""
    plans = [file for file in files if file.endswith(".json")]
    if plans and tools is None:
        _stop(f"{plans[0]} is a plan: say with --tools MODULE whose functions it calls")
    if tools is not None and len(plans) < len(files):
        script = next(file for file in files if file not in plans)
        _stop(
            f"--tools is for plans, and {script} is none: name it NAME.json, or leave --tools out"
        )
    for option, is_given in (("--source-map", source_map), ("--async", is_async)):
        if plans and is_given:
            _stop(f"{option} is for scripts")


def _refuse_collisions(files: list[str], targets: list[Path | None]) -> None:
    seen: dict[Path, str] = {}
    for file, target in zip(files, targets, strict=True):
        if target is None:
            continue
        if seen.get(target, file) != file:
            complain(f"{seen[target]} and {file} would both become {target}")
            raise typer.Exit(1)
        seen[target] = file


def _stop(text: str) -> NoReturn:
    complain(text)
    raise typer.Exit(2)
