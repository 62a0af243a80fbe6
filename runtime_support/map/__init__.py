"""Batch jobs: calls a function for each row of a table, in this process or on Dask.

    from runtime_support.map import map_rows

    report = map_rows(triage, "mails.parquet", "out")
    print(report)         100,000 rows: 99,871 done, 129 failed (ContractError 129; ...); ...

Each row is a unit of work. Its outcome is stored in `job.db`, together with the replies to its
prompts, so the same call of `map_rows` resumes the job. If a row fails, a file next to the output
lists its error, and the other rows continue; with `retry_failed`, the job runs failed rows again.

The modules: `_inputs` reads rows, `_binding` turns their columns into arguments, `_rows` calls the
function, `_store` stores outcomes, and `_output` writes them to output files, which are called
parts. `_runner` runs the job from start to end. With Dask, `_dask` sends batches to workers, where
`_worker` processes their rows.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from runtime_support._budgets import report_usage, spending_apart
from runtime_support._core.notes import note
from runtime_support._core.settings import settings_for
from runtime_support._core.settings.configuration import current_configuration
from runtime_support._core.tools import function_tool
from runtime_support._tables import polars
from runtime_support._values.kinds import counted
from runtime_support._values.names import function_name, listed
from runtime_support.errors import ConfigError, JournalError
from runtime_support.map._binding import Binding, Columns, Show
from runtime_support.map._columns import columns_of
from runtime_support.map._inputs import Table, TextFormat, table_at
from runtime_support.map._output import PART_ROWS, Format, OutputFolder
from runtime_support.map._printing import whole_lines
from runtime_support.map._report import Interrupted, Report
from runtime_support.map._runner import JobRun
from runtime_support.map._script import Function, Job, Module, Script, load_function
from runtime_support.map._store import VERSION, JobStore, begin_journal, find_job
from runtime_support.providers import provider_and_model

__all__ = ["Interrupted", "Module", "Report", "Script", "map_rows"]

ROWS_AT_ONCE = 64
_MOST_NAMED = 10


def map_rows(
    function: Callable[..., Any] | Script,
    table: str | Path,
    out: str | Path,
    *,
    rename: Mapping[str, str] | None = None,
    constants: Mapping[str, Any] | None = None,
    columns: Columns = "all",
    format: Format | None = None,
    delimiter: str = ",",
    encoding: str | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
    workers: int | None = None,
    address: str | None = None,
    row_timeout: float | None = None,
    limit: int | None = None,
    max_failed: float | None = None,
    retry_failed: bool = False,
    check_only: bool = False,
    is_quiet: bool = False,
    show: Show | None = None,
    part_rows: int = PART_ROWS,
) -> Report:
    """Calls `function` for each row of a table, and writes the results into the folder `out`.

    - `table`: a file in Parquet, CSV or JSON lines. A parameter takes the column with its name, or
      the column that `rename` gives for it. `constants` are arguments for all rows.
    - `columns`: which columns of the table go into the output, besides the result and
      `row`, the number of the row, from 0.
    - `format`: the output's format, "parquet", "jsonl" or "csv". The default is the format of the
      table, but JSON lines for CSV.
    - `delimiter`: separates the values of CSV. `encoding`: the encoding of CSV and JSON lines. The
      default is UTF-8, unless the file's byte order mark names another encoding.
    - `rows_at_once`: how many rows run at once in each process. The job runs in this process, in
      `workers` processes that Dask starts here, or in the cluster whose scheduler is at `address`.
    - `row_timeout`: a row fails if it takes longer than this number of seconds. Waiting for a rate
      limit, for an overloaded server or for a retry does not count.
    - `limit`: processes only this many rows, from the first. `max_failed`: the job ends if more
      rows fail than this number; a float below 1 is a share of the ended rows. `retry_failed`:
      calls the function again for failed rows, even if the script was edited since.
    - `check_only`: calls nothing, and raises a ConfigError if a row does not fit the parameters.
      Without it, such a row only fails, unless none of the first rows fits.
    - `is_quiet`: prints no progress on standard error. `show`: a function that displays the
      progress in another way. Its argument is a function that returns the progress line, or ""
      once the job is over.
    - `part_rows`: the maximum number of rows in an output file.

    The same call resumes the job. Returns a Report, even if the job ended early, for instance
    because its budget is spent. Before the first request, raises a ConfigError for mistakes that
    are certain to make the job fail. Raises a FileError if the table cannot be read, and
    Interrupted, a KeyboardInterrupt with the report, after Ctrl-C.
    """
    numbers = {"workers": workers, "limit": limit, "part_rows": part_rows, "max_failed": max_failed}
    _check_numbers({"rows_at_once": rows_at_once, "row_timeout": row_timeout, **numbers})
    source = table_at(str(table), TextFormat(delimiter, encoding or ""))
    format = format or ("parquet" if source.format == "parquet" else "jsonl")
    _check_possible(format, workers, address)
    with ExitStack() as block:
        called = block.enter_context(load_function(function))
        tool = function_tool(function_name(called), called)
        binding = Binding(tool, source, rename or {}, constants or {}, columns)
        binding.check(limit, show, every=check_only)
        forms = columns_of(tool.signature.returns)
        kept = {name: source.types.get(name) for name in binding.keep}
        output = OutputFolder(os.path.abspath(str(out)), format, kept, forms)
        script = function.digest if isinstance(function, Script) else _digest_of(function)
        same = {"script": script, "format": format, "limit": limit, "part_rows": part_rows}
        same |= _identity(source, binding, forms)
        found, _ = find_job(output.folder, same, retry_failed=retry_failed)
        if check_only:
            return Report(rows=found["rows"] if found else source.count(limit))
        block.enter_context(current_configuration(_settings_of_rows(rows_at_once, row_timeout)))
        block.enter_context(spending_apart())
        store = JobStore(block.enter_context(begin_journal(output.folder, tool.name)))
        # Another process may have begun a job in the meantime.
        found, edited = find_job(output.folder, same, retry_failed=retry_failed)
        rows = found["rows"] if found else source.count(limit)
        store.begin_process({**same, "rows": rows})
        if retry_failed:
            _tell_retried(output.folder, store.reopen_failed(), edited)
        job = Job(
            function=function,
            name=tool.name,
            constants=binding.constants,
            columns=forms if format == "parquet" else None,
            rows_at_once=rows_at_once,
            row_timeout=row_timeout,
        )
        run = JobRun(store, binding, output, rows, part_rows, max_failed, show, is_quiet=is_quiet)
        return _do(run, job, called, workers, address)


def _do(
    run: JobRun, job: Job, function: Function, workers: int | None, address: str | None
) -> Report:
    """Runs the job in this process or on workers, and closes its journal."""
    try:
        with whole_lines():
            if workers is None and address is None:
                report = run.watch(run.run_in_process(job, function))
            else:
                from runtime_support.map._dask import Dask

                with closing(Dask(job, workers, address)) as dask:
                    report = run.watch(dask.work(run))
    finally:
        with suppress(JournalError):  # the job has already reported a full disk
            run.store.leave()
        report_usage()
    if report.waiting and not report.stopped:
        ended = "waiting"
    else:
        ended = "failed" if report.stopped or report.failed else "ok"
    run.store.journal.close(ended)
    return report


def _check_possible(format: Format, workers: int | None, address: str | None) -> None:
    """Raises ConfigError if workers are asked for in two ways, or if a package is missing."""
    if workers is not None and address is not None:
        raise ConfigError("a job runs on its own workers or on those of a cluster, not on both")
    if format == "parquet":
        polars()
    if workers is not None or address is not None:
        from runtime_support.map._dask import distributed

        distributed()


def _check_numbers(options: Mapping[str, float | None]) -> None:
    """Raises ConfigError if an option of `map_rows` is out of range."""
    for name, number in options.items():
        least = 0 if name == "max_failed" else 1
        if name == "row_timeout":
            if number is not None and not 0 < number < float("inf"):
                raise ConfigError(f"row_timeout: expected seconds above 0, got {number:g}")
        elif number is not None and number < least:
            raise ConfigError(f"{name}: expected {least} or more, got {number}")


def _settings_of_rows(rows_at_once: int, row_timeout: float | None) -> dict[str, Any]:
    """The settings for rows: no request may take longer than a row."""
    return {
        "max_in_flight": rows_at_once,
        "timeout": min(settings_for().timeout, row_timeout or float("inf")),
    }


def _tell_retried(folder: str, rows: list[int], edited: list[str]) -> None:
    """Reports the rows that run with an edited script or other settings than the finished rows."""
    if edited:
        named = ", ".join(map(str, rows[:_MOST_NAMED])) + ", ..." * (len(rows) > _MOST_NAMED)
        which = f"{counted(len(rows), 'failed row')} ({named})" if rows else "no failed row"
        note(
            f"{folder}: {which} and the remaining rows run with another {listed(edited)} "
            "than the rows that are done"
        )


def _digest_of(function: Callable[..., Any]) -> str:
    """A hash of the source of the function's module, or "" if the source is not available."""
    import inspect

    try:
        text = inspect.getsource(inspect.getmodule(function) or function)
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _identity(source: Table, binding: Binding, forms: Mapping[str, Any]) -> dict[str, Any]:
    """The values that identify the job: its function, table, arguments, model and settings.

    The caller adds the digest of the script and the options of the output.
    """
    settings = settings_for()
    said = [settings.sampling(), settings.system, settings.enforce_schema]
    text = json.dumps(said, sort_keys=True, default=str)
    return {
        "version": VERSION,
        "function": binding.tool.name,
        "returns": repr(forms),
        "input": source.digest(),
        "reading": source.reading,
        **binding.identity(),
        "settings": [*provider_and_model(settings), hashlib.sha256(text.encode()).hexdigest()],
    }
