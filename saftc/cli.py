"""The command line: files, colour and exit codes.

Exit codes: 0 fine; 1 something is wrong with a script, a file or the command; 2 a bug in saftc.
"""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from saftc import __version__

if TYPE_CHECKING:
    from saftc.driver import Checked
    from saftc.source import Source

app = typer.Typer(
    name="saftc",
    help="Compile Saft, a small language in which a prompt is an expression, to readable Python.",
    epilog="`saftc script.saft` is short for `saftc run script.saft`.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Files = Annotated[list[str], typer.Argument(help="Scripts; `-` is standard input.", metavar="FILE")]


class Format(StrEnum):
    """How diagnostics are written."""

    text = "text"
    json = "json"


def _version(value: bool) -> None:
    if value:
        print(f"saftc {__version__}")
        raise typer.Exit


@app.callback()
def saftc(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """The commands."""


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
) -> None:
    """Compile scripts to Python modules.

    Without -o or --out-dir, script.saft becomes script.py beside it.
    """
    from saftc.driver import compile_source
    from saftc.files import may_overwrite, read_module, write_module

    if output is not None and (len(files) > 1 or out_dir is not None):
        _stop("-o names one module: give it one script, or use --out-dir")
    targets = [_target(file, output, out_dir) for file in files]
    _refuse_collisions(files, targets)
    failed = False
    for file, target in zip(files, targets, strict=True):
        source = _read(file)
        if source is None:
            failed = True
            continue
        compiled = compile_source(source)
        _report(compiled.checked)
        if compiled.text is None:
            failed = True
            continue
        if target is None:
            sys.stdout.write(compiled.text)
            continue
        existing = read_module(target)
        if check or diff:
            is_stale = existing != compiled.text
            if diff and is_stale:
                _print_diff(existing or "", compiled.text, target)
            if check and is_stale:
                _say(f"{target} is out of date: run `saftc build {file}`")
                failed = True
            continue
        if target.exists() and file != "-" and target.samefile(file):
            _complain(f"{target} is the script itself; name another file with -o")
            failed = True
        elif not force and not may_overwrite(target):
            _complain(f"{target} was not written by saftc; --force overwrites it")
            failed = True
        elif existing == compiled.text:
            _say(f"{target} is up to date")
        else:
            if out_dir is not None:
                out_dir.mkdir(parents=True, exist_ok=True)
            write_module(target, compiled.text)
            _say(f"{file} -> {target}")
    raise typer.Exit(1 if failed else 0)


@app.command()
def check(
    files: Files,
    format: Annotated[Format, typer.Option(help="How to write what was found.")] = Format.text,
) -> None:
    """Report what is wrong with scripts, without writing anything."""
    from saftc.diagnostics.render import as_data, render_json
    from saftc.driver import check as check_source

    data: list[dict[str, object]] = []
    failed = False
    errors = warnings = 0
    for file in files:
        source = _read(file)
        if source is None:
            failed = True
            continue
        checked = check_source(source)
        failed = failed or checked.has_errors
        for diagnostic in checked.diagnostics:
            errors += diagnostic.severity == "error"
            warnings += diagnostic.severity == "warning"
        if format is Format.json:
            data += as_data(checked.diagnostics, source)
        else:
            _write_text(checked, sys.stdout)
    if format is Format.json:
        sys.stdout.write(render_json(data))
    else:
        _say(_summary(len(files), errors, warnings))
    raise typer.Exit(1 if failed else 0)


@app.command(context_settings={"allow_interspersed_args": True})
def run(
    file: Annotated[str, typer.Argument(help="The script; `-` is standard input.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="What the script sees as its arguments, after `--`.")
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(help="Who answers: openai, openrouter, local, mock, none.", metavar="NAME"),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model to ask.", metavar="NAME")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="The address of an OpenAI-compatible server.", metavar="URL")
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(help="The environment variable that holds the key.", metavar="NAME"),
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="From 0 on; 0 varies least.")] = None,
    max_tool_rounds: Annotated[
        int | None, typer.Option(help="Rounds of tool calls a prompt may take (8).")
    ] = None,
    max_tool_calls: Annotated[
        int | None, typer.Option(help="Tool calls a prompt may make (32).")
    ] = None,
) -> None:
    """Compile a script in memory and run it.

    The options set the SAFT_ variables of the environment for this run.
    """
    settings = {
        "SAFT_PROVIDER": provider,
        "SAFT_MODEL": model,
        "SAFT_BASE_URL": base_url,
        "SAFT_API_KEY_ENV": api_key_env,
        "SAFT_TEMPERATURE": temperature,
        "SAFT_MAX_TOOL_ROUNDS": max_tool_rounds,
        "SAFT_MAX_TOOL_CALLS": max_tool_calls,
    }
    os.environ.update({name: str(value) for name, value in settings.items() if value is not None})
    source = _read(file)
    if source is None:
        raise typer.Exit(1)
    from saftc.driver import compile_source

    compiled = compile_source(source)
    _report(compiled.checked)
    if compiled.module is None:
        raise typer.Exit(1)
    from saftc import running

    raise typer.Exit(running.run(compiled, arguments or []))


def main() -> None:
    """Entry point of the command `saftc`."""
    arguments = sys.argv[1:]
    if arguments and _is_script(arguments[0]):
        arguments.insert(0, "run")
    from saftc.files import FileProblem

    try:
        code = app(arguments, prog_name="saftc", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as problem:
        _complain(f"{problem.format_message()}\nsaftc --help tells more")
        code = 1
    except FileProblem as problem:
        _complain(str(problem))
        code = 1
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        code = 130
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except SystemExit:
        raise
    except Exception:
        _bug()
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _is_script(argument: str) -> bool:
    """Whether the first argument names a script rather than a command or an option."""
    return argument == "-" or argument.endswith(".saft") or (
        not argument.startswith("-") and Path(argument).is_file()
    )


def _bug() -> None:
    import traceback

    traceback.print_exc()
    _complain(
        f"this is a bug in saftc {__version__}: please report it with the lines above and the "
        "script, if you can share it"
    )


def _target(file: str, output: str | None, out_dir: Path | None) -> Path | None:
    """The module that `file` becomes; None for standard output."""
    if output is not None:
        return None if output == "-" else Path(output)
    if file == "-":
        return None
    name = Path(file).stem + ".py"
    return out_dir / name if out_dir is not None else Path(file).with_name(name)


def _refuse_collisions(files: list[str], targets: list[Path | None]) -> None:
    seen: dict[Path, str] = {}
    for file, target in zip(files, targets, strict=True):
        if target is None:
            continue
        if target in seen:
            _stop(f"{seen[target]} and {file} would both become {target}")
        seen[target] = file


def _read(file: str) -> "Source | None":
    from saftc.files import FileProblem, read_source

    try:
        return read_source(file)
    except FileProblem as problem:
        _complain(str(problem))
        return None


def _report(checked: "Checked") -> None:
    _write_text(checked, sys.stderr)


def _write_text(checked: "Checked", stream: "typer.FileTextWrite | object") -> None:
    from saftc.diagnostics.render import render_text

    text = render_text(checked.diagnostics, checked.source)
    if text:
        assert hasattr(stream, "write")
        print(_coloured(text, stream), file=stream, end="")  # type: ignore[arg-type]


def _coloured(text: str, stream: object) -> str:
    is_terminal = getattr(stream, "isatty", lambda: False)()
    if not is_terminal or os.environ.get("NO_COLOR"):
        return text
    lines = text.split("\n")
    for position, line in enumerate(lines):
        for word, colour in (("error[", typer.colors.RED), ("warning[", typer.colors.YELLOW)):
            if line.startswith(word):
                head, _, rest = line.partition(":")
                lines[position] = typer.style(head, fg=colour, bold=True) + ":" + rest
    return "\n".join(lines)


def _summary(files: int, errors: int, warnings: int) -> str:
    counted = f"{files} file{'s' if files != 1 else ''} checked"
    if not errors and not warnings:
        return f"{counted}, nothing to report"
    parts = [
        f"{count} {word}{'s' if count != 1 else ''}"
        for count, word in ((errors, "error"), (warnings, "warning"))
        if count
    ]
    return f"{counted}: {', '.join(parts)}"


def _print_diff(old: str, new: str, target: Path) -> None:
    import difflib

    lines = difflib.unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        fromfile=f"{target} (on disk)",
        tofile=f"{target} (compiled)",
    )
    sys.stdout.writelines(lines)


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _complain(text: str) -> None:
    print(f"saftc: {text}", file=sys.stderr)


def _stop(text: str) -> NoReturn:
    _complain(text)
    raise typer.Exit(1)
