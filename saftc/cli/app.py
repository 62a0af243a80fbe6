"""The commands of `saftc`: their arguments, options and help.

Exit codes: 0 success; 1 an error in a script or a file; 2 wrong usage; 3 a bug in saftc; 4 a run
waits for approval; 5 the budget of a job is spent.
"""

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer
import typer.core

from saftc._version import __version__
from saftc.cli import fast_path as actions
from saftc.cli.commands.servers import mcp
from saftc.cli.flags import ApproveOptions, BuildOptions, CheckOptions
from saftc.cli.options import (
    KEEPING,
    Chrome,
    MapOptions,
    MappedFunction,
    MappedTable,
    ModelOptions,
    Root,
    RowOptions,
    SummaryAsJson,
    Timeline,
    TokensPerMinute,
    least_score,
    set_settings,
    set_variables,
    spread_options,
)
from saftc.cli.process import INTERRUPTED, end, needing, print_everything
from saftc.project.files import FileProblem
from saftc.reporting import Colour, WrongUsage, counted, manner, show_info


class _Commands(typer.core.TyperGroup):
    """The group of commands; `saftc SCRIPT` and `saftc OPTION ...` mean `saftc run ...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments. Without arguments, shows the help."""
        return super().parse_args(ctx, args or ["--help"])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command to run: `run` if the first word is a script or an option."""
        word = args[0]
        is_script = word[:1] == "-" or any(mark in word for mark in "./" + os.sep)
        if word not in self.commands and (is_script or os.path.isfile(word)):
            args = ["run", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="saftc",
    cls=_Commands,
    help="Compile Saft, a small language in which a prompt is an expression, to readable Python.",
    epilog="`saftc script.saft` is short for `saftc run script.saft`, and `saftc -c TEXT` for "
    "`saftc run -c TEXT`. The options above go before the command.",
    add_completion=True,
    # Markdown help has columns, which a narrow terminal has no room for.
    rich_markup_mode="markdown" if get_terminal_size().columns >= 60 else None,
    pretty_exceptions_enable=False,
    # Options of `run` may come before a script.
    context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True},
)

Files = Annotated[
    list[str],
    typer.Argument(
        help="Scripts, or folders for all scripts below them; `-` is standard input.",
        metavar="FILE...",
    ),
]


FilesOfProject = Annotated[
    list[str] | None,
    typer.Argument(
        help="Scripts, or folders for all scripts below them; `-` is standard input. Without any: "
        "all scripts of a project whose pyproject.toml says `in-place = true`.",
        metavar="[FILE...]",
        show_default=False,
    ),
]

# The headings under which `saftc --help` lists the commands.
SCRIPTS, RUNS, EDITORS, HELP = "Scripts", "Runs and tables", "Editors", "Reference"


class Format(StrEnum):
    """The output format of diagnostics."""

    text = "text"
    json = "json"


def _complete_code(incomplete: str) -> list[str]:
    from saftc.diagnostics.catalogue import BY_NUMBER

    return [code for code in sorted(BY_NUMBER) if code.startswith(incomplete.upper())]


def _version(value: bool) -> None:
    if value:
        print(f"saftc {__version__}")
        raise typer.Exit


@app.callback()
def saftc(
    context: typer.Context,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Neither read nor write the compilation cache."),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("-q", "--quiet", help="Report only problems."),
    ] = False,
    color: Annotated[
        Colour,
        typer.Option(help="Colour in diagnostics; auto: on a terminal, unless NO_COLOR is set."),
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
        os.environ["SAFT_NO_CACHE"] = "1"
    if context.invoked_subcommand != "run":
        # Not for `run`: the script decides how its output is encoded.
        print_everything(sys.stdout)


@app.command(
    context_settings={"allow_interspersed_args": True},
    rich_help_panel=SCRIPTS,
    epilog="Example: `saftc run triage.saft --provider mock --timeline run.html`",
)
@spread_options
def run(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="The script, `-` for standard input; after `--`, the script's own arguments.",
            metavar="[FILE] [ARGUMENTS...]",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("-c", help="The text of a script, instead of a file.", metavar="TEXT"),
    ] = None,
    *,
    options: ModelOptions,
    journal: Annotated[
        str | None,
        typer.Option(
            help="Keep a journal of the run in this file; the same command resumes the run.",
            metavar="FILE",
            rich_help_panel=KEEPING,
        ),
    ] = None,
) -> None:
    """Compile a script in memory and run it.

    Options override the SAFT_ environment variables for this run.
    """
    project = set_settings(options, journal=journal)
    if not words and text is None and _is_terminal():
        raise WrongUsage("saftc run needs a script: FILE, -c TEXT, or one on standard input")
    in_order, root = options.no_overlap, options.root
    raise typer.Exit(actions.run(words or [], project, text=text, in_order=in_order, root=root))


@app.command(rich_help_panel=SCRIPTS, epilog="Example: `saftc check --strict src`")
@spread_options
def check(files: Files, *, options: CheckOptions) -> None:
    """Find mistakes in scripts, and fix them with --fix."""
    from saftc.cli.commands.check import check_scripts

    raise typer.Exit(check_scripts(files, options))


@app.command(rich_help_panel=SCRIPTS, epilog="Example: `saftc build triage.saft -o triage.py`")
@spread_options
def build(files: FilesOfProject = None, *, options: BuildOptions) -> None:
    """Compile scripts, or plans with --tools, to Python modules.

    A plan is a program in JSON, NAME.json. Without -o or --out-dir, script.saft becomes script.py
    beside it. Sibling scripts that a script imports are compiled, too. In a project that says
    `in-place = true`, `saftc build` alone compiles all of its scripts.
    """
    from saftc.cli.commands.build import build_scripts

    raise typer.Exit(build_scripts(files or [], options))


@app.command(rich_help_panel=SCRIPTS, epilog="Example: `saftc fmt --check src`")
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
    from saftc.cli.commands.fmt import format_scripts

    raise typer.Exit(format_scripts(files, check=check, diff=diff))


@app.command(rich_help_panel=SCRIPTS, epilog="Example: `saftc prompts triage.saft --raw`")
def prompts(
    file: Annotated[str, typer.Argument(help="The script; `-` is standard input.", metavar="FILE")],
    format: Annotated[Format, typer.Option(help="The format of the requests.")] = Format.text,
    imports: Annotated[
        bool,
        typer.Option(
            "--import", help="Import Python modules, rather than only read them: their code runs."
        ),
    ] = False,
    on_wire: Annotated[
        bool,
        typer.Option("--raw", help="Show the HTTP requests: address, headers and body."),
    ] = False,
    root: Root = None,
) -> None:
    """Show what each prompt of a script will send, without running it.

    No model is asked. For a value that is known only when the script runs, you see its source:
    «mail».
    """
    from saftc.cli.commands.prompts import show_prompts
    from saftc.project.settings import Project

    raise typer.Exit(
        show_prompts(
            file,
            as_json=format is Format.json,
            imports=imports,
            on_wire=on_wire,
            overlapping=Project().compiling(),
            root=root,
        )
    )


@app.command(
    "map",
    rich_help_panel=RUNS,
    epilog="Example: `saftc map triage.saft:triage mails.csv tickets --limit 10`",
)
@spread_options
def map_(
    target: MappedFunction,
    table: MappedTable,
    out: Annotated[
        str, typer.Argument(help="The folder of the output, created if missing.", metavar="FOLDER")
    ],
    *,
    rows: RowOptions,
    options: MapOptions,
    tokens_per_minute: TokensPerMinute = None,
    asking: ModelOptions,
) -> None:
    """Call a function of a script for each row of a table.

    The same command resumes the job. Failed rows are reported in errors-*.jsonl; the others are
    still done. Exit codes: 0 all rows are done, 1 some failed or are left, 2 refused before it
    began, 4 rows wait for approval, 5 the budget is spent.
    """
    given = {**rows.for_map(), **options.for_map()}
    project = set_settings(asking, tokens_per_minute=tokens_per_minute)
    from saftc.cli.commands.map import map_script
    from saftc.project.workspace import open_workspace

    workspace = open_workspace(in_order=asking.no_overlap, root=asking.root, project=project)
    raise typer.Exit(map_script(target, table, out, workspace, given, as_json=options.json))


@app.command(
    "eval",
    rich_help_panel=RUNS,
    epilog="Example: `saftc eval triage.saft:topic cases.csv --expect label --at-least 0.9`",
)
@spread_options
def eval_(
    target: MappedFunction,
    table: MappedTable,
    *,
    expect: Annotated[
        str, typer.Option(help="The column of the expected values.", metavar="COLUMN")
    ],
    score: Annotated[
        str | None,
        typer.Option(
            help="A function of the script that takes the result and the expected value, and "
            "returns a bool or a number. Default: true if both are equal.",
            metavar="FUNCTION",
        ),
    ] = None,
    models: Annotated[
        str | None, typer.Option(help="Models to compare, separated by commas.", metavar="NAMES")
    ] = None,
    at_least: Annotated[
        str | None,
        typer.Option(help="Exit with 1 if a model's score is lower.", metavar="NUMBER|N%"),
    ] = None,
    json: SummaryAsJson = False,
    tokens_per_minute: TokensPerMinute = None,
    rows: RowOptions,
    asking: ModelOptions,
) -> None:
    """Score a function of a script against the expected values in a table.

    Rows that fail count as wrong. The same command resumes after an interruption. Exit codes: 0, 1
    below --at-least, 2 refused before it began, 4 rows wait for approval, 5 the budget is spent.
    """
    project = set_settings(asking, tokens_per_minute=tokens_per_minute)
    from saftc.cli.commands.map import evaluate_script
    from saftc.project.workspace import open_workspace
    from saftc.trace.evaluation import Scoring

    names = tuple(one.strip() for one in (models or "").split(",") if one.strip())
    scoring = Scoring(expect, score, names, least_score(at_least, is_share=score is None))
    workspace = open_workspace(in_order=asking.no_overlap, root=asking.root, project=project)
    raise typer.Exit(
        evaluate_script(target, table, workspace, rows.for_map(), scoring, as_json=json)
    )


@app.command(rich_help_panel=RUNS, epilog="Example: `saftc journals runs`")
def journals(
    folder: Annotated[
        str, typer.Argument(help="The folder of the journals.", metavar="[FOLDER]")
    ] = ".",
) -> None:
    """List the journals in a folder, with the progress of each run."""
    from saftc.cli.commands.journals import show_journals

    raise typer.Exit(show_journals(folder))


@app.command(
    rich_help_panel=RUNS, epilog="Example: `saftc trace monday.journal --timeline run.html`"
)
def trace(
    file: Annotated[str, typer.Argument(help="The journal of a run.", metavar="FILE")],
    timeline: Timeline = None,
    chrome: Chrome = None,
) -> None:
    """Show the requests and answers of a run with a journal."""
    from saftc.cli.commands.journals import draw_timeline, show_trace

    if timeline is None and chrome is None:
        raise typer.Exit(show_trace(file))
    raise typer.Exit(draw_timeline(file, timeline, chrome))


@app.command(
    rich_help_panel=RUNS, epilog="Example: `saftc approve monday.journal --deny 'above the limit'`"
)
@spread_options
def approve(
    target: Annotated[
        str,
        typer.Argument(
            help="The journal of a run, or a folder of journals: the output of `saftc map`.",
            metavar="JOURNAL",
        ),
    ],
    *,
    options: ApproveOptions,
) -> None:
    """Show the calls that wait for approval, decide about them, and resume the run.

    At a terminal it asks about each call. Elsewhere it needs an option that decides; without one it
    only lists the calls.
    """
    from saftc.cli.commands.approve import approve_calls

    raise typer.Exit(approve_calls(target, options))


@app.command(rich_help_panel=EDITORS, epilog="Example: `saftc play triage.saft`")
def play(
    file: Annotated[
        Path,
        typer.Argument(help="The script; a new one begins as an example.", metavar="[FILE]"),
    ] = Path("play.saft"),
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="The port of the page; 0 is a free one.", metavar="N"),
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address, but open no browser.")
    ] = False,
    link: Annotated[
        str | None,
        typer.Option(help="Also open the script of a shared link.", metavar="LINK"),
    ] = None,
) -> None:
    """Write and run a script on a page in the browser.

    Beside the script, the page shows its Python and its requests. Only this machine can open it,
    and only with the printed address.
    """
    advice = "saftc play needs other packages: pip install pygls starlette uvicorn websockets"
    with needing("starlette uvicorn", advice):
        from saftc.play.server import play as serve_page
    try:
        serve_page(file, port, opens=not no_open, link=link)
    except OSError as problem:
        raise FileProblem(f"cannot serve on port {port}: {problem.strerror or problem}") from None


@app.command(
    rich_help_panel=RUNS, epilog="Example: `saftc serve triage.saft`, as the command of a client"
)
def serve(
    file: Annotated[
        Path, typer.Argument(help="The script whose functions are offered.", metavar="FILE")
    ],
    stdio: Annotated[
        bool,
        typer.Option("--mcp", help="Serve over standard input and output (the default)."),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="Serve over HTTP on this machine at this port; 0 is a free one. Clients need the "
            "token that saftc prints, as an entry for their .mcp.json.",
        ),
    ] = None,
    journal: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep a journal of each call in this folder, for `saftc approve`.",
        ),
    ] = None,
) -> None:
    """Offer the functions of a script as the tools of an MCP server.

    Each function at the top level with a `///` comment is a tool. saftc imports the script: its
    `main` does not run.
    """
    if stdio and port is not None:
        raise WrongUsage("--mcp and --port exclude each other: leave one of the two out")
    if not file.is_file():
        raise FileProblem(f"there is no file {file}")
    from saftc.cli.commands.servers import serve_script
    from saftc.importing import install
    from saftc.project.workspace import open_workspace

    root = open_workspace().roots.of(str(file)).absolute()
    install(str(root))
    sys.path.insert(0, str(root))
    raise typer.Exit(serve_script(file.absolute(), root, port, journal))


@app.command(rich_help_panel=EDITORS, epilog="Example: `saftc lsp`")
def lsp() -> None:
    """Serve an editor over the language server protocol.

    It runs no script and sends no request.
    """
    with needing("pygls lsprotocol", "saftc lsp needs the package pygls: pip install pygls"):
        from saftc.lsp.server import serve as serve_editor
    serve_editor()


@app.command(rich_help_panel=HELP, epilog="Example: `saftc explain SAFT0203`")
def explain(
    code: Annotated[
        str | None,
        typer.Argument(
            help="The code of a diagnostic; without it, all codes are listed.",
            metavar="[CODE]",
            autocompletion=_complete_code,
        ),
    ] = None,
) -> None:
    """Show what a diagnostic means, with a wrong and a right example."""
    from saftc.diagnostics.explanations import UnknownCode, index, page

    try:
        sys.stdout.write(index() if code is None else page(code))
    except UnknownCode as problem:
        raise WrongUsage(str(problem)) from None


def _is_terminal() -> bool:
    return sys.stdin.isatty()


cache = typer.Typer(
    help="Show or clear the compilation cache.",
    epilog="Example: `saftc cache`",
)


@cache.callback(invoke_without_command=True)
def show_cache(context: typer.Context) -> None:
    """Show the folder and the size of the compilation cache.

    The folder is SAFT_CACHE_DIR, or saftc's folder in the user's cache.
    """
    if context.invoked_subcommand is None:
        from saftc.project.cache import Cache
        from saftc.user_cache import cache_folder

        kept = Cache(cache_folder())
        print(f"{kept.folder}: {_amount(*kept.size())}")


@cache.command(epilog="Example: `saftc cache clear`")
def clear() -> None:
    """Delete the cache. It is rebuilt when needed."""
    from saftc.project.cache import Cache
    from saftc.user_cache import cache_folder

    kept = Cache(cache_folder())
    show_info(f"{kept.folder}: removed {_amount(*kept.clear())}")


def _amount(files: int, size: int) -> str:
    return f"{counted(files, 'file')}, {size / 1e6:.1f} MB"


app.add_typer(
    cache,
    name="cache",
    rich_help_panel=HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(
    mcp,
    name="mcp",
    rich_help_panel=HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """The entry point of the command `saftc`."""
    end(_command)


def _command() -> int:
    """Runs the command that the arguments name. Returns its exit code."""
    command: Any = typer.main.get_command(app)
    words = sys.argv[1:]
    _leave_out_types_of_flags(command)
    try:
        code = command(words, prog_name="saftc", standalone_mode=False)
    except typer.TyperException as problem:
        raise WrongUsage(_usage_words(problem, command, words)) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    if code == INTERRUPTED:  # the code to which typer converts a KeyboardInterrupt
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _leave_out_types_of_flags(command: Any, above: typer.Context | None = None) -> None:
    """Removes the types of flags and arguments from the help of a command and its subcommands."""
    context = typer.Context(command, above, **command.context_settings)
    for parameter in command.get_params(context):
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx="": None
            # A metavar such as `[FILE...]` is the whole placeholder; typer would add braces.
            parameter.get_usage_pieces = lambda ctx="", words=parameter.metavar: [words]
    for below in getattr(command, "commands", {}).values():
        _leave_out_types_of_flags(below, context)


def _usage_words(problem: Any, saftc: Any, given: Sequence[str]) -> str:
    """The message for wrong arguments, with a line that names the command for more help."""
    context: Any = getattr(problem, "ctx", None)
    path = " ".join(("saftc", *(word for word in given[:1] if word in saftc.commands)))
    path = path if context is None else context.command_path
    commands = getattr(context and context.command, "commands", {})
    words = _words_of_value(problem) or problem.format_message()
    if old := _new_name(problem, context, given):
        words = old
    elif context is not None and context.parent is not None and _is_of_all(problem, saftc):
        words = f"No such option: {problem.option_name}; it goes before the command"
    elif words.startswith("No such option") and (setting := _setting_of(problem)):
        words = (
            f"No such option: {problem.option_name}; `{setting}` is a setting: "
            f"SAFT_{setting.upper()}, [tool.saft] in pyproject.toml, or `with {{{setting}: ...}}` "
            "behind a prompt"
        )
    if path != "saftc" and commands and "command" in words:
        words += f" Commands of {path}: {', '.join(sorted(commands))}."
    return f"{words}\n{path} --help tells more"


def _is_of_all(problem: Any, saftc: Any) -> bool:
    name = getattr(problem, "option_name", None)
    return any(name in one.opts for one in saftc.params)


def _new_name(problem: Any, context: Any, given: Sequence[str]) -> str | None:
    """The message about a command or option that was renamed, with its new name.

    The result is None if the command or option was not renamed.
    """
    from runtime_support._values import renamed as renaming

    name = getattr(problem, "option_name", None)
    if name is None:
        old = next((word for word in given if not word.startswith("-")), "")
        new = renaming.COMMANDS.get(old) if context and context.parent is None else None
        return new and f"No such command: {renaming.renamed(f'saftc {old}', f'saftc {new}')}"
    new = renaming.FLAGS.get(context.info_name, {}).get(name) if context else None
    return new and f"No such option: {renaming.renamed(name, new)}"


# The expected value of an option, by pydantic's error type.
_EXPECTED = {
    "int_parsing": "an integer",
    "float_parsing": "a number",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
}


def _words_of_value(problem: Any) -> str | None:
    """The message about a wrong value of an option; None if pydantic did not raise the error."""
    errors, parameter = getattr(problem.__cause__, "errors", None), getattr(problem, "param", None)
    if errors is None or parameter is None:
        return None
    from runtime_support._core.settings import VARIABLES, checks
    from runtime_support.errors import ConfigError

    error, option = errors()[0], parameter.opts[0]
    if parameter.name in VARIABLES.values():
        try:
            checks.setting_from_text(parameter.name, str(error["input"]), option)
        except ConfigError as told:
            return str(told)
    wanted = _EXPECTED.get(error["type"])
    if wanted is None:
        return f"{option}: {error['msg'].removeprefix('Value error, ')}"
    expected = wanted.format(**error.get("ctx", {}))
    return f"{option}: expected {expected}, got {error['input']!r}"


def _setting_of(problem: Any) -> str | None:
    """The setting that has the same name as an unknown option; None if there is none."""
    from runtime_support._core.settings import VARIABLES
    from runtime_support._values import renamed as renaming

    name = f"SAFT_{problem.option_name.lstrip('-').replace('-', '_').upper()}"
    return VARIABLES.get(renaming.VARIABLES.get(name, name))
