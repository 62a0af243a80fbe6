"""Options shared by several commands, and parsers for their values.

set_variables(model="gpt-4o-mini")         sets SAFT_MODEL in os.environ
pairs("--rename", ["mail=body"])           {"mail": "body"}
number_or_share("--max-failed", "10%")     0.1
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, get_annotations, signature
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from saftc.project.settings import Project
from saftc.reporting import WrongUsage, refuse_wrong_settings

# The headings under which `--help` lists the options of `run` and `map`.
WHO, LIMITS, KEEPING, LOOKING = "Model", "Limits", "Recordings and journals", "Tracing"
CONCURRENCY, OUTPUT = "Concurrency", "Output"


def _complete_provider(incomplete: str) -> list[str]:
    from runtime_support._core.settings import PROVIDERS

    return [name for name in PROVIDERS if name.startswith(incomplete)]


Timeline = Annotated[
    str | None,
    typer.Option(
        help="Write a timeline of the run to this file, as a web page.",
        metavar="FILE",
        rich_help_panel=LOOKING,
    ),
]
Chrome = Annotated[
    str | None,
    typer.Option(
        help="Write a trace of the run to this file, for Chrome and Perfetto.",
        metavar="FILE",
        rich_help_panel=LOOKING,
    ),
]

Root = Annotated[
    Path | None,
    typer.Option(
        help="The folder that imports start from. Default: pyproject.toml or `__init__.py` decide.",
        metavar="FOLDER",
        exists=True,
        file_okay=False,
    ),
]


InOrder = Annotated[
    bool, typer.Option("--no-overlap", help="Send all prompts one after the other.")
]


class OutputFormat(StrEnum):
    """The file formats of rows."""

    parquet = "parquet"
    jsonl = "jsonl"
    csv = "csv"


SummaryAsJson = Annotated[
    bool,
    typer.Option("--json", help="Write the summary as JSON.", rich_help_panel=OUTPUT),
]
MappedFunction = Annotated[
    str, typer.Argument(help="A function of a script.", metavar="SCRIPT:FUNCTION")
]
MappedTable = Annotated[
    str, typer.Argument(help="The rows: .parquet, .csv or .jsonl.", metavar="TABLE")
]
TokensPerMinute = Annotated[
    float | None,
    typer.Option(
        help="Tokens per minute, in all processes together.", metavar="N", rich_help_panel=LIMITS
    ),
]


def set_variables(**settings: object) -> None:
    """Sets the environment variable SAFT_NAME of each given setting that is not None.

    Raises:
        BadParameter: A setting has a wrong value.
    """
    from runtime_support import Settings
    from runtime_support._core.settings.checks import checked_option
    from runtime_support.errors import ConfigError

    given = {name: value for name, value in settings.items() if value is not None}
    for name, value in given.items():
        if name in Settings.__dataclass_fields__:
            try:
                checked_option(name, value, f"--{name.replace('_', '-')}")
            except ConfigError as problem:
                raise typer.BadParameter(str(problem)) from None
    os.environ.update({f"SAFT_{name.upper()}": str(value) for name, value in given.items()})


@dataclass(frozen=True)
class ModelOptions:
    """The options of commands that run scripts, such as the provider, limits, and recorded answers.

    Each of them, except for the last two, is also an environment variable.
    """

    provider: Annotated[
        str | None,
        typer.Option(
            help="openai, anthropic, gemini, openrouter, local, mock, unset.",
            metavar="NAME",
            rich_help_panel=WHO,
            autocompletion=_complete_provider,
        ),
    ] = None
    model: Annotated[
        str | None, typer.Option(help="The model to ask.", metavar="NAME", rich_help_panel=WHO)
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            help="The address of a compatible server.", metavar="URL", rich_help_panel=WHO
        ),
    ] = None
    api_key_env: Annotated[
        str | None,
        typer.Option(
            help="The environment variable that holds the key.", metavar="NAME", rich_help_panel=WHO
        ),
    ] = None
    temperature: Annotated[
        float | None,
        typer.Option(
            help="0 or more; 0 is the most deterministic.", metavar="NUMBER", rich_help_panel=WHO
        ),
    ] = None
    requests_per_minute: Annotated[
        float | None,
        typer.Option(
            help="Requests per minute, in all processes together.",
            metavar="N",
            rich_help_panel=LIMITS,
        ),
    ] = None
    max_tool_rounds: Annotated[
        int | None,
        typer.Option(
            help="Rounds of tool calls per prompt (8).", metavar="N", rich_help_panel=LIMITS
        ),
    ] = None
    max_tool_calls: Annotated[
        int | None,
        typer.Option(help="Tool calls per prompt (32).", metavar="N", rich_help_panel=LIMITS),
    ] = None
    budget_requests: Annotated[
        int | None,
        typer.Option(
            help="Budget: end the run before request N + 1.",
            metavar="N",
            rich_help_panel=LIMITS,
        ),
    ] = None
    budget_tokens: Annotated[
        int | None,
        typer.Option(
            help="Budget: tokens of all requests and replies.", metavar="N", rich_help_panel=LIMITS
        ),
    ] = None
    budget_cost: Annotated[
        float | None,
        typer.Option(
            help="Budget: US dollars, by the prices in the settings.",
            metavar="DOLLARS",
            rich_help_panel=LIMITS,
        ),
    ] = None
    record: Annotated[
        str | None,
        typer.Option(
            help="Append all requests and replies to this file, for --replay.",
            metavar="FILE",
            rich_help_panel=KEEPING,
        ),
    ] = None
    replay: Annotated[
        str | None,
        typer.Option(
            help="Answer from a file that --record wrote; send nothing.",
            metavar="FILE",
            rich_help_panel=KEEPING,
        ),
    ] = None
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Show requests and replies on standard error.",
            rich_help_panel=LOOKING,
        ),
    ] = False
    usage: Annotated[
        bool,
        typer.Option(
            "--usage", help="Report requests, tokens and cost at the end.", rich_help_panel=LOOKING
        ),
    ] = False
    log: Annotated[
        str | None,
        typer.Option(
            help="Write requests and replies to this file, as JSON lines.",
            metavar="FILE",
            rich_help_panel=LOOKING,
        ),
    ] = None
    timeline: Timeline = None
    chrome: Chrome = None
    no_overlap: InOrder = False
    root: Root = None


@dataclass(frozen=True)
class RowOptions:
    """The options that say how the rows of a table become calls of a function."""

    rename: Annotated[
        list[str] | None,
        typer.Option(
            help="The column for a parameter of another name; may be repeated.",
            metavar="PARAMETER=COLUMN",
        ),
    ] = None
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="An argument that is the same for all rows; may be repeated.",
            metavar="PARAMETER=JSON",
        ),
    ] = None
    delimiter: Annotated[
        str, typer.Option(help="The separator of a CSV file, or tab.", metavar="CHARACTER")
    ] = ","
    encoding: Annotated[
        str | None,
        typer.Option(
            help="Encoding of a CSV or JSON-lines file. Default: by its byte order mark, or UTF-8.",
            metavar="NAME",
        ),
    ] = None
    row_timeout: Annotated[
        float | None,
        typer.Option(
            help="A row that takes longer fails.", metavar="SECONDS", rich_help_panel=LIMITS
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Only the first N rows.", metavar="N", rich_help_panel=LIMITS),
    ] = None

    def for_map(self) -> dict[str, Any]:
        """The options as keyword arguments of `map_rows`."""
        given = dict(vars(self))
        given["rename"] = pairs("--rename", self.rename or [])
        given["constants"] = json_pairs("--set", given.pop("set_") or [])
        return given


@dataclass(frozen=True)
class MapOptions:
    """The options of `saftc map`: its output, its parallelism, and when it stops."""

    columns: Annotated[
        str,
        typer.Option(
            help="Columns of the table to repeat in the output, with commas; or all, or none.",
            metavar="COLUMNS",
            rich_help_panel=OUTPUT,
        ),
    ] = "all"
    format: Annotated[
        OutputFormat | None,
        typer.Option(
            help="The format of the output. Default: that of the table; jsonl for a CSV table.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    csv: Annotated[
        bool, typer.Option("--csv", help="Short for --format csv.", rich_help_panel=OUTPUT)
    ] = False
    json: SummaryAsJson = False
    rows_at_once: Annotated[
        int,
        typer.Option(
            min=1,
            help="Rows that run at the same time in each process.",
            metavar="N",
            rich_help_panel=CONCURRENCY,
        ),
    ] = 64
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Processes on this machine, started by Dask. Default: this one alone.",
            metavar="N",
            rich_help_panel=CONCURRENCY,
        ),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            help="The address of a Dask cluster's scheduler.",
            metavar="URL",
            rich_help_panel=CONCURRENCY,
        ),
    ] = None
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Report what will fail and what the job may cost; send nothing."
        ),
    ] = False
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Retry the rows that failed.")
    ] = False
    max_failed: Annotated[
        str | None,
        typer.Option(
            help="Stop when more than N rows, or N% of the rows, fail.",
            metavar="N|N%",
            rich_help_panel=LIMITS,
        ),
    ] = None

    def for_map(self) -> dict[str, Any]:
        """The options as keyword arguments of `map_rows`.

        Raises:
            WrongUsage: The options name two output formats.
            BadParameter: An option has a wrong value.
        """
        if self.csv and self.format not in (None, OutputFormat.csv):
            raise WrongUsage("--csv is short for --format csv: leave one of the two out")
        given = dict(vars(self))
        del given["json"]
        if self.columns not in ("all", "none"):
            given["columns"] = self.columns.split(",")
        given["format"] = "csv" if given.pop("csv") else self.format and self.format.value
        given["check_only"] = given.pop("check")
        if self.max_failed is not None:
            given["max_failed"] = number_or_share("--max-failed", self.max_failed)
        return given


def spread_options(command: Callable[..., None]) -> Callable[..., None]:
    """Wraps a command for typer: each field of a dataclass parameter becomes an option."""
    hints: dict[str, Any] = get_annotations(command)
    kinds: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for one in signature(command).parameters.values():
        kind = kinds.get(one.name)
        parameters += [one] if kind is None else _parameters(kind)
    parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters]

    @wraps(command)
    def called(**given: Any) -> None:
        for name, kind in kinds.items():
            given[name] = kind(**{one.name: given.pop(one.name) for one in fields(kind)})
        command(**given)

    vars(called)["__signature__"] = Signature(parameters)
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _parameters(options: Any) -> list[Parameter]:
    # The annotations in `saftc.cli.flags` use names that only this module imports.
    hints = get_type_hints(options, localns=globals(), include_extras=True)
    kind = Parameter.KEYWORD_ONLY
    return [
        Parameter(one.name, kind, default=one.default, annotation=hints[one.name])
        for one in fields(options)
    ]


def set_settings(options: ModelOptions, **more: object) -> Project:
    """Sets the environment variables for a command's options and `more`, and checks all settings.

    The result is the project, whose settings were checked, too.

    Raises:
        BadParameter: An option has a wrong value.
        WrongUsage: Another setting in the environment or project is wrong or misspelt.
    """
    given = {name: 1 if value is True else value for name, value in vars(options).items()}
    given |= more
    if given.pop("no_overlap"):
        given["max_in_flight"] = 1
    del given["root"]
    set_variables(**{name: value for name, value in given.items() if value is not False})
    if options.replay is not None:
        from runtime_support._recordings import advise

        hint = f"add `--record {options.replay}` to record what is missing"
        advise(options.replay, hint)
    return refuse_wrong_settings()


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Parses the `NAME=VALUE` pairs of an option."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"{option} has the form NAME=VALUE, got {text!r}")
        found[name] = value
    return found


def json_pairs(option: str, texts: Sequence[str]) -> dict[str, Any]:
    """Parses the `NAME=VALUE` pairs of an option, with values in JSON."""
    found: dict[str, Any] = {}
    for name, value in pairs(option, texts).items():
        try:
            found[name] = json.loads(value)
        except ValueError:
            quoted = json.dumps(value, ensure_ascii=False)
            raise typer.BadParameter(
                f"{option} {name}: {value} is not JSON; a text is {option} '{name}={quoted}'"
            ) from None
    return found


def least_score(text: str | None, *, is_share: bool) -> float:
    """Parses the lowest accepted score: `0.9` or `90%`.

    Unless `is_share` is true, the score may be any number.
    """
    if text is None:
        return float("-inf")
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = float("nan")
    if isfinite(number) and (not is_share or 0 <= number <= 1):
        return number
    expected = "a number from 0 to 1, or a share as 90%" if is_share else "a number"
    hint = f"; did you mean {text}%?" if 1 < number <= 100 and not text.endswith("%") else ""
    raise typer.BadParameter(f"--at-least: expected {expected}, got {text!r}{hint}")


def number_or_share(option: str, text: str) -> int | float:
    """Parses `20` as the number 20 and `10%` as the share 0.1."""
    try:
        if text.endswith("%") and 0 <= float(text[:-1]) < 100:
            return float(text[:-1]) / 100
        return int(text)
    except ValueError:
        said = f"{option}: expected a number or a share such as 10%, got {text!r}"
        raise typer.BadParameter(said) from None
