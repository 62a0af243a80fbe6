"""Batch jobs: calls a function for each row of a table, in this process or by Dask.

    from runtime_support.scale import map_rows

    report = map_rows(triage, "mails.parquet", "out")
    print(report)         100,000 rows: 99,871 done, 129 failed (ContractError 129; ...); ...

The rows are cut into chunks, always the same ones. A chunk is done when its part is in the folder;
journals keep the answers of the others, so the same call resumes the job. A row that fails is
written to a file beside the part, and the other rows go on.

How a chunk is done: `_inputs` reads it, `_binding` makes arguments of its columns, `_mapping` gives
it to an engine, which calls the function by `_chunk`, and writes its part by `_output`; `_ledger`
knows which job the folder belongs to, and what it has cost.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Literal

from runtime_support._names import function_name
from runtime_support._settings import settings_for
from runtime_support._tools import function_tool
from runtime_support.errors import ConfigError
from runtime_support.providers import who_answers
from runtime_support.runs._lines import Entry
from runtime_support.scale._binding import Binding, Keep
from runtime_support.scale._columns import columns_of
from runtime_support.scale._inputs import Batch, split_rows, table_at
from runtime_support.scale._job import Function, Job, Module, Script, load_function
from runtime_support.scale._ledger import Ledger
from runtime_support.scale._mapping import Engine, JobChunks, Report, Show
from runtime_support.scale._output import Output

__all__ = ["Module", "Report", "Script", "map_rows"]

CHUNK_ROWS = 200
CHUNK_BYTES = 128_000
IN_FLIGHT = 64


def map_rows(
    function: Callable[..., Any] | Script,
    table: str | Path,
    out: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    constants: Mapping[str, Any] | None = None,
    keep: Keep = "all",
    format: Literal["parquet", "jsonl"] | None = None,
    in_flight: int = IN_FLIGHT,
    workers: int | None = None,
    address: str | None = None,
    row_timeout: float | None = None,
    limit: int | None = None,
    max_failed: float | None = None,
    retry_failed: bool = False,
    keep_journals: bool = False,
    check_only: bool = False,
    is_quiet: bool = False,
    show: Show | None = None,
    chunk_rows: int = CHUNK_ROWS,
) -> Report:
    """Calls `function` for each row of a table, and writes the results as parts into the folder
    `out`.

    - `table`: a file of Parquet, CSV or JSON lines. A parameter takes the column of its name, or
      the one that `columns` names; `constants` are the same for all rows.
    - `keep`: the columns that go into the output, beside `row`, which counts from 0, and the
      result.
    - `format`: of the parts; without it that of the table, and JSON lines for CSV.
    - `in_flight`: how many rows run at once in each process: this one, the `workers` that Dask
      starts here, or those of the cluster whose scheduler is at `address`.
    - `row_timeout`: a row that takes longer than these seconds fails; waiting for its server does
      not count.
    - `limit`: only the first rows. `max_failed`: the job ends if more rows fail than this number,
      or, below 1, than this share. `retry_failed`: calls the function again for rows that have
      failed.
    - `keep_journals`: the answers of finished chunks stay in `out/journal`.
    - `check_only`: calls nothing, and raises a ConfigError if rows among the first do not fit;
      otherwise each such row fails.
    - `is_quiet`: no progress on standard error. `show`: is called with a function that returns the
      line of progress, and "" at the end, to show it in another way.

    The same call resumes the job. Returns a Report, also of a job that ended early, for instance
    because its budget is spent. Raises a ConfigError for what is certain to go wrong, before the
    first request, and a FileError if the table cannot be read.
    """
    if workers is not None and address is not None:
        raise ConfigError("a job runs on its own workers or on those of a cluster, not on both")
    bounds = (
        ("in_flight", in_flight, 1),
        ("workers", workers, 1),
        ("limit", limit, 1),
        ("max_failed", max_failed, 0),
    )
    for name, number, least in bounds:
        if number is not None and number < least:
            raise ConfigError(f"{name}: expected {least} or more, got {number}")
    if row_timeout is not None and not 0 < row_timeout < float("inf"):
        raise ConfigError(f"row_timeout: expected seconds above 0, got {row_timeout:g}")
    source, folder = table_at(str(table)), os.path.abspath(str(out))
    format = format or ("parquet" if source.format == "parquet" else "jsonl")
    with ExitStack() as block:
        called = block.enter_context(load_function(function))
        name = function_name(called)
        tool = function_tool(name, called)
        binding = Binding(tool, source, columns or {}, constants or {}, keep)
        binding.check(every=check_only)
        forms = columns_of(tool.signature.returns)
        same: Entry = {
            "function": name,
            "script": function.digest if isinstance(function, Script) else _digest_of(function),
            "input": source.digest(),
            **binding.identity(),
            "format": format,
            "limit": limit,
            "chunk_rows": chunk_rows,
            "settings": _settings(),
        }
        rows = itertools.islice(source.rows(binding.names), limit)
        parts = split_rows(rows, binding.arguments, binding.kept, chunk_rows, CHUNK_BYTES)
        first = next(parts, None)
        job = Job(
            run=secrets.token_hex(6),
            function=function,
            part_of=name,
            journals=os.path.join(folder, "journal"),
            constants=binding.constants,
            columns=forms if format == "parquet" else None,
            in_flight=in_flight,
            at_once=_at_once(first, in_flight),
            row_timeout=row_timeout,
        )

        def count() -> int:
            return source.count() if limit is None else min(source.count(), limit)

        if check_only and not os.path.exists(os.path.join(folder, "job.journal")):
            return Report(rows=count())
        ledger = block.enter_context(closing(Ledger(folder, same, count)))
        if check_only:
            return Report(rows=ledger.rows)
        ledger.take_up(settings_for())
        kept = {name: source.types.get(name) for name in binding.keep}
        output = Output(folder, format, kept, forms)
        engine = block.enter_context(closing(_engine(job, called, workers, address)))
        work = JobChunks(
            engine,
            ledger,
            output,
            max_failed=max_failed,
            keeps_journals=keep_journals,
            is_quiet=is_quiet,
            show=show,
        )
        whole = itertools.chain([] if first is None else [first], parts)
        return work.run(_open(whole, output, work, retry_failed))


def _at_once(first: Batch | None, in_flight: int) -> int:
    """How many chunks a process has under way, so that none of its threads is without a row."""
    rows = 1 if first is None else len(first.kept)
    # A chunk lasts as long as the slowest of its rows, which is about this many times a usual one.
    slowest = 1 + math.log(rows)
    return 1 + math.ceil(in_flight * slowest / rows)


def _engine(job: Job, called: Function, workers: int | None, address: str | None) -> Engine:
    if workers is None and address is None:
        from runtime_support.scale._local import Local

        return Local(job, called)
    from runtime_support.scale._dask import Dask

    return Dask(job, workers, address)


def _open(
    parts: Iterator[Batch], output: Output, work: JobChunks, retry_failed: bool
) -> Iterator[Batch]:
    """The parts that are not done, or what of them is to be asked again."""
    done = output.done()
    for part in parts:
        if part.number not in done:
            yield part
            continue
        failed = output.failed(part.number)
        if failed and retry_failed:
            work.pass_by_rows(len(part.kept) - len(failed))
            kept = {row: part.kept[row] for row in failed}
            rows = {row: part.rows[row] for row in failed if row in part.rows}
            problems = {row: part.problems[row] for row in failed if row in part.problems}
            yield Batch(part.number, rows, kept, problems)
        else:
            work.pass_by(part, failed)


def _digest_of(function: Callable[..., Any]) -> str:
    """What tells one text of the function's module from another; empty where there is none."""
    import inspect

    try:
        text = inspect.getsource(inspect.getmodule(function) or function)
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _settings() -> list[str]:
    """Who answers, and what else of the settings changes answers."""
    settings = settings_for()
    said = [settings.sampling(), settings.system, settings.structured]
    text = json.dumps(said, sort_keys=True, default=str)
    return [*who_answers(settings), hashlib.sha256(text.encode()).hexdigest()]
