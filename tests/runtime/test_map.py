"""A function over the rows of a table: what is written, what is refused, what stops and goes on."""

from __future__ import annotations

import asyncio
import csv
import errno
import gc
import json
import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, ClassVar, Literal

import polars as pl
import pytest

from runtime_support import (
    BudgetSpent,
    CheckError,
    ConfigError,
    FileError,
    Reply,
    Request,
    configure,
    overlap,
    prompt,
)
from runtime_support import map as jobs
from runtime_support._budgets import Spent
from runtime_support._core.tasks import clock
from runtime_support._core.tasks.clock import Clock, current_clock
from runtime_support._journal.json_lines import LockedFile
from runtime_support._schema.reading import schema_of
from runtime_support.errors import AuthenticationFailed, ProviderError
from runtime_support.map import Module, Report, Script, map_rows
from runtime_support.map import _inputs as inputs
from runtime_support.map import _rows as row_threads
from runtime_support.map import _runner as runner
from runtime_support.map._columns import columns_of, data_type
from runtime_support.map._output import OutputFolder
from runtime_support.map._report import Speed
from runtime_support.ops import read_text
from runtime_support.providers import _backoff, _retries
from runtime_support.runs import journaled
from tests.runtime.conftest import RequestClock
from tests.runtime.test_retries import Clock as WaitingClock
from tests.support.fake_server import LEFT, FakeServer, completion, status


class Echo:
    """Answers with the last line of what it is asked, and counts; `answer` may do otherwise."""

    def __init__(self, answer: Callable[[str], str] = lambda asked: asked) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        asked = json.loads(request.messages[-1]["content"].splitlines()[0].partition(" ")[2])
        with self.lock:
            self.asked.append(asked)
        return Reply(self.answer(asked), input_tokens=10, output_tokens=5)


def ask(mail: str) -> str:
    """Asks for a mail."""
    return prompt("Read {mail}", mail=mail).value


def table(name: str, count: int, of: str = "mail") -> Path:
    """A table of so many mails, in the format of its name."""
    rows = [{"id": number, "mail": f"{of} {number}"} for number in range(count)]
    path = Path(name)
    if path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["id", "mail"])
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def lines(pattern: str) -> list[dict[str, Any]]:
    """The rows of JSON lines in some files, in order."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(Path().glob(pattern)))
    return [json.loads(line) for text in texts for line in text.splitlines()]


def parts(folder: str) -> dict[str, bytes]:
    """The parts in a folder, and what is told of failed rows."""
    return {
        path.name: path.read_bytes()
        for path in Path(folder).iterdir()
        if path.name.startswith(("part-", "errors-"))
    }


# What is written


@pytest.mark.parametrize("name", ["mails.parquet", "mails.csv", "mails.jsonl"])
def test_each_row_has_its_result(name: str) -> None:
    configure(provider=Echo(str.upper))
    report = map_rows(ask, table(name, 7), "out", part_rows=3)
    assert (report.rows, report.done, report.failed, report.stopped) == (7, 7, 0, None)
    assert (report.usage.requests, report.usage.input_tokens) == (7, 70)
    if name == "mails.parquet":
        found = pl.read_parquet("out/part-*.parquet").to_dicts()
    else:
        found = lines("out/part-*.jsonl")
    kept = str if name == "mails.csv" else int
    assert found == [
        {"row": n, "id": kept(n), "mail": f"mail {n}", "result": f"MAIL {n}"} for n in range(7)
    ]
    assert len(parts("out")) == 3
    assert sorted(os.listdir("out")) == ["job.db", *sorted(parts("out"))]


def test_parts_do_not_depend_on_threads_or_time() -> None:
    path = table("mails.parquet", 50)
    gate = threading.Barrier(2)

    def late(asked: str) -> str:
        # Every first of two waits for the next one, so that the order is another one.
        if int(asked.split()[1]) < 40:
            gate.wait()
        return asked

    configure(provider=Echo(late))
    map_rows(ask, path, "two", rows_at_once=2, part_rows=8)
    configure(provider=Echo())
    map_rows(ask, path, "one", rows_at_once=1, part_rows=8)
    map_rows(ask, path, "many", rows_at_once=32, part_rows=8)
    assert parts("one") == parts("two") == parts("many")


@dataclass(frozen=True)
class Address:
    """A field of a result."""

    city: str
    number: int | None = None


@dataclass(frozen=True)
class Ticket:
    """A result with columns of all kinds."""

    title: str
    severity: Literal["low", "high"]
    tags: list[str]
    score: float
    urgent: bool
    address: Address
    due: str | None = None
    other: int | str | None = None
    more: dict[str, int] | None = None


def test_the_columns_of_a_table_come_from_the_type() -> None:
    columns = {name: data_type(form) for name, form in columns_of(schema_of(Ticket)).items()}
    assert columns == {
        "title": pl.String,
        "severity": pl.String,
        "tags": pl.List(pl.String),
        "score": pl.Float64,
        "urgent": pl.Boolean,
        "address": pl.Struct({"city": pl.String, "number": pl.Int64}),
        "due": pl.String,
        "other": pl.String,
        "more": pl.String,
    }

    def triage(mail: str) -> Ticket:
        late = mail.endswith("1")
        other = 3 if late else "three"
        return Ticket(mail, "low", [mail], 1, late, Address("Oslo"), other=other, more={"a": 1})

    table("mails.parquet", 2)
    map_rows(triage, "mails.parquet", "out", columns="none", part_rows=1)
    frames = [pl.read_parquet(path) for path in sorted(Path("out").glob("*.parquet"))]
    assert frames[0].schema == frames[1].schema
    assert frames[1].row(0, named=True) == {
        "row": 1,
        "title": "mail 1",
        "severity": "low",
        "tags": ["mail 1"],
        "score": 1.0,
        "urgent": True,
        "address": {"city": "Oslo", "number": None},
        "due": None,
        "other": "3",
        "more": '{"a":1}',
    }


@dataclass(frozen=True)
class Tree:
    """A type that refers to itself."""

    name: str
    below: list[Tree]


def test_a_recursive_type_is_text_where_it_begins_anew() -> None:
    forms = columns_of(schema_of(Tree))
    assert data_type(forms["below"]) == pl.List(pl.String)


def test_columns_that_are_kept_keep_their_types() -> None:
    rows = {"id": [1], "at": [date(2025, 3, 4)], "raw": [b"\x00\xff"], "mail": ["hello"]}
    pl.DataFrame({**rows, "took": [timedelta(days=1, seconds=3)]}).write_parquet("mails.parquet")
    configure(provider=Echo())
    map_rows(ask, "mails.parquet", "tables", columns=["at", "raw"])
    found = pl.read_parquet("tables/part-000000.parquet")
    assert found.schema["at"] == pl.Date and found["raw"].to_list() == [b"\x00\xff"]
    map_rows(ask, "mails.parquet", "texts", columns=["raw", "at", "took"], format="jsonl")
    texts = {"raw": "AP8=", "at": "2025-03-04", "took": "P1DT3S"}
    assert lines("texts/part-*") == [{"row": 0, **texts, "result": "hello"}]


def test_lines_of_json_become_tables() -> None:
    rows = '{"mail": "a", "n": {"x": 1}}\n{"mail": "b", "n": "text"}\n{"mail": "c"}\n'
    Path("mails.jsonl").write_text(rows)
    configure(provider=Echo())
    map_rows(ask, "mails.jsonl", "out", format="parquet")
    found = pl.read_parquet("out/part-000000.parquet")
    assert found["n"].to_list() == ['{"x": 1}', "text", None]


def test_columns_have_other_names_and_constants_are_the_same_for_all() -> None:
    def shout(text: str, times: int, mark: str = "!") -> str:
        return text + mark * times

    Path("in.csv").write_text("body,count,mark\nhello,2,\nbye,3,?\n")
    report = map_rows(
        shout, "in.csv", "out", rename={"text": "body"}, constants={"times": 1}, columns=["count"]
    )
    assert report.failed == 0
    assert lines("out/part-*") == [
        {"row": 0, "count": "2", "result": "hello!"},
        {"row": 1, "count": "3", "result": "bye?"},
    ]


def test_what_is_empty_in_csv_is_nothing_where_there_may_be_nothing() -> None:
    def shown(a: str, b: str | None, c: int | None = 7) -> list[object]:
        return [a, b, c]

    Path("in.csv").write_text("a,b,c\n,,\n")
    map_rows(shown, "in.csv", "out", columns="none")
    assert lines("out/part-*") == [{"row": 0, "result": ["", None, None]}]


def test_values_of_several_lines_and_long_ones() -> None:
    long = "x" * 300_000
    Path("in.csv").write_text(f'mail\n"two\nlines"\n{long}\n', encoding="utf-8")
    configure(provider=Echo())
    report = map_rows(ask, "in.csv", "out")
    assert [row["result"] for row in lines("out/part-*")] == ["two\nlines", long]
    assert report.rows == report.done == 2


def test_a_function_takes_any_columns_that_are_named_for_it() -> None:
    def shown(**given: str) -> str:
        return json.dumps(given)

    map_rows(shown, table("mails.csv", 1), "out", rename={"text": "mail"}, columns="none")
    assert lines("out/part-*") == [{"row": 0, "result": '{"text": "mail 0"}'}]


def test_an_empty_table_has_no_parts() -> None:
    table("mails.csv", 0)
    report = map_rows(ask, "mails.csv", "out")
    assert (report.rows, report.done, parts("out")) == (0, 0, {})


def test_the_name_of_a_file_is_no_pattern() -> None:
    for name in ("a[1].parquet", "a*.parquet", "ab.parquet"):
        pl.DataFrame({"mail": [name]}).write_parquet(name)
    configure(provider=Echo())
    for number, name in enumerate(("a[1].parquet", "a*.parquet")):
        map_rows(ask, name, f"out{number}")
        assert pl.read_parquet(f"out{number}/part-000000.parquet")["result"].to_list() == [name]


def test_empty_lines_are_no_rows() -> None:
    Path("in.csv").write_text("\n\nmail\n\nhello\n\n")
    Path("in.jsonl").write_text('\n{"mail": "hello"}\n\n')
    configure(provider=Echo())
    for name in ("in.csv", "in.jsonl"):
        assert map_rows(ask, name, f"out-{name}").done == 1


@pytest.mark.parametrize("name", ["mails.csv", "mails.jsonl", "mails.parquet"])
def test_a_table_that_changes_during_the_job_ends_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "AT_ONCE", 100)
    path, letters = table(name, 2_000), table(f"letters-{name}", 2_000, of="letter")
    same = path.read_bytes()

    def change(text: bytes) -> None:
        if path.suffix == ".parquet":  # half of such a file cannot be read
            Path("new").write_bytes(text)
            Path("new").replace(path)
        else:
            path.write_bytes(text)

    def shown(mail: str) -> str:
        if mail == "mail 30":
            change(letters.read_bytes())
            letters.write_bytes(same)  # so that it changes once
        return mail

    report = map_rows(shown, path, "out")
    told = f"FileError: {path} has changed since the job started; "
    assert report.stopped is not None and report.stopped.startswith(told)
    change(same)
    assert map_rows(shown, path, "out").done == 2_000
    assert not any(b"letter" in part for part in parts("out").values())


def test_only_the_first_rows() -> None:
    configure(provider=Echo())
    assert map_rows(ask, table("mails.csv", 9), "out", limit=4).rows == 4
    assert len(lines("out/part-*")) == 4


def test_prompts_of_one_row_overlap() -> None:
    gate = threading.Barrier(3)

    def thrice(mail: str) -> list[str]:
        return list(overlap(ask, [f"{mail}.{n}" for n in range(3)]))

    def together(asked: str) -> str:
        gate.wait()
        return asked

    configure(provider=Echo(together))
    map_rows(thrice, table("mails.csv", 1), "out", columns="none", rows_at_once=3)
    assert lines("out/part-*") == [{"row": 0, "result": ["mail 0.0", "mail 0.1", "mail 0.2"]}]


@pytest.mark.heavy
@pytest.mark.parametrize(("length", "part_rows"), [(90_000, 200), (10, 3)])
def test_as_many_rows_at_once_as_may_be_in_chunks_of_few(length: int, part_rows: int) -> None:
    all_at_once = threading.Barrier(16)

    def together(mail: str) -> int:
        all_at_once.wait(timeout=20)
        return len(mail)

    mails = ({"mail": "x" * length} for _ in range(48))
    Path("mails.jsonl").write_text("".join(json.dumps(mail) + "\n" for mail in mails))
    report = map_rows(
        together, "mails.jsonl", "out", columns="none", rows_at_once=16, part_rows=part_rows
    )
    assert report.done == 48


@pytest.mark.heavy
def test_nothing_of_a_row_is_held_when_it_is_done() -> None:
    held: list[int] = []

    def counting(mail: str) -> str:
        if mail in ("mail 499", "mail 1999"):
            gc.collect()
            held.append(len(gc.get_objects()))
        return ask(mail)

    configure(provider=Echo())
    map_rows(counting, table("mails.jsonl", 2000), "out", rows_at_once=1, part_rows=5)
    few, many = held
    # As many as there are parts between; some rows are marked before they begin.
    assert many - few < 300


# Rows that fail


def test_a_row_that_fails_is_told_and_the_others_go_on() -> None:
    def check(mail: str) -> str:
        if mail == "mail 1":
            raise ValueError("sk-abcdefghijklmnopqrstuvwxyz is no mail")
        if mail == "mail 2":
            sys.exit(3)
        return ask(mail)

    configure(provider=Echo())
    report = map_rows(check, table("mails.csv", 4), "out")
    assert (report.done, report.failures) == (2, {"ValueError": 1, "SystemExit": 1})
    assert "2 failed (SystemExit 1, ValueError 1; errors-*.jsonl)" in str(report)
    first, _ = lines("out/errors-*")
    assert first["row"] == 1 and first["input"] == {"mail": "mail 1"}
    assert first["message"] == "[redacted] is no mail" and first["at"].startswith("test_map.py:")
    assert [row["row"] for row in lines("out/part-*")] == [0, 3]


class Silent(Exception):
    """Cannot be shown."""

    def __str__(self) -> str:
        raise KeyboardInterrupt


class Outside(BaseException):
    """As frameworks of tests and event loops have them."""


@pytest.mark.parametrize(
    "kind",
    [
        *(asyncio.CancelledError, KeyboardInterrupt, GeneratorExit, StopIteration, Silent, Outside),
        *(pytest.exit.Exception, pytest.skip.Exception, MemoryError, RecursionError),
    ],
)
@pytest.mark.parametrize("part_rows", [1, 200])
def test_whatever_a_row_raises_it_fails_once(kind: Any, part_rows: int) -> None:
    called: list[str] = []

    def odd(mail: str) -> str:
        called.append(mail)
        if mail == "mail 1":
            raise kind("no mail")
        return mail

    report = map_rows(odd, table("mails.csv", 4), "out", part_rows=part_rows)
    assert (report.done, report.failures) == (3, {kind.__name__: 1})
    assert sorted(called) == [f"mail {n}" for n in range(4)]
    (failed,) = lines("out/errors-*")
    assert failed["row"] == 1 and failed["message"]


def test_what_calls_that_run_ahead_raise_fails_their_row() -> None:
    def inner(mail: str) -> str:
        if mail == "mail 1.2":
            raise asyncio.CancelledError
        return mail

    def thrice(mail: str) -> list[str]:
        return list(overlap(inner, [f"{mail}.{n}" for n in range(3)]))

    report = map_rows(thrice, table("mails.csv", 3), "out")
    assert (report.done, report.failures) == (2, {"CancelledError": 1})


# Rows that take too long


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """What rows wait for, until the test is over."""
    event = threading.Event()
    yield event
    event.set()


class RowClock(Clock):
    """The time of a row, which has had its own as soon as it is among the `late` ones."""

    late: ClassVar[list[Clock | None]] = []

    def seconds(self) -> float:
        return 1e9 if any(one is self for one in self.late) else 0.0


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> list[Clock | None]:
    """Clocks of rows that have had their time; no others have, however slow the machine is."""
    monkeypatch.setattr(RowClock, "late", [])
    monkeypatch.setattr(row_threads, "Clock", RowClock)
    monkeypatch.setattr(runner, "LOOK", 0.01)
    return RowClock.late


@pytest.mark.parametrize("in_flight", [1, 3])
def test_a_row_that_takes_too_long_fails_and_the_others_go_on(
    never: threading.Event, late: list[Clock | None], in_flight: int
) -> None:
    def odd(mail: str) -> str:
        if mail in ("mail 1", "mail 4"):
            never.wait(late.append(current_clock()) or 60)
        return ask(mail)

    echo = Echo()
    configure(provider=echo)
    path = table("mails.csv", 6)
    report = map_rows(odd, path, "out", rows_at_once=in_flight, row_timeout=60, part_rows=3)
    assert (report.done, report.failures, report.stopped) == (4, {"RowTimeout": 2}, None)
    assert len(echo.asked) == 4
    first, _ = lines("out/errors-*")
    line = odd.__code__.co_firstlineno + 2
    assert first == {
        "row": 1,
        "error": "RowTimeout",
        "message": "the row took longer than 60 s",
        "at": f"test_map.py:{line}",
        "input": {"mail": "mail 1"},
    }
    never.set()
    assert map_rows(odd, path, "out", retry_failed=True, part_rows=3).failed == 0


def test_a_row_that_was_left_asks_no_more(never: threading.Event) -> None:
    ended: list[str] = []

    def late(mail: str) -> str:
        never.wait(60)
        try:
            while True:
                with suppress(Exception):
                    ask(mail)
        finally:
            ended.append(mail)

    echo = Echo()
    configure(provider=echo)
    report = map_rows(late, table("mails.csv", 2), "out", row_timeout=0.05)
    assert report.failures == {"RowTimeout": 2} and echo.asked == []
    rows = [thread for thread in threading.enumerate() if thread.name == "saft row"]
    never.set()
    for thread in rows:
        thread.join(60)
    assert sorted(ended) == ["mail 0", "mail 1"] and echo.asked == []
    assert len(lines("out/errors-*")) == 2 and lines("out/part-*") == []


def test_a_request_ends_with_the_time_of_its_row(server: FakeServer) -> None:
    configure(max_retries=0, timeout=60)
    server.answers = [replace(completion("never"), parts=[b"{", LEFT])]
    report = map_rows(ask, table("mails.csv", 1), "out", row_timeout=0.2)
    assert report.failures == {"RowTimeout": 1}


def test_what_a_row_waits_for_its_server_is_not_its_time(
    server: FakeServer, request_clock: RequestClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = WaitingClock()
    monkeypatch.setattr(_retries, "time", waits)
    monkeypatch.setattr(_backoff, "time", waits)
    monkeypatch.setattr(clock, "monotonic", waits.monotonic)
    configure(max_retries=5, max_wait=600)
    server.answers = [status(503, retry_after="90"), completion("one")]
    report = map_rows(ask, table("mails.csv", 1), "out", row_timeout=60)
    assert (report.done, report.failed) == (1, 0)
    assert waits.now >= 90


def test_a_row_that_had_its_time_is_not_begun_again_with_the_job(
    never: threading.Event, late: list[Clock | None]
) -> None:
    begun: list[str] = []

    def odd(mail: str) -> str:
        begun.append(mail)
        if mail == "mail 0":
            late.append(current_clock())
            never.wait(60)
        return ask(mail)

    def answer(asked: str) -> str:
        if asked == "mail 1" and begun.count("mail 1") == 1:
            raise BudgetSpent("no money")
        return asked

    configure(provider=Echo(answer), budget_requests=100)
    report = map_rows(odd, table("mails.csv", 3), "out", row_timeout=60)
    assert report.stopped is not None and "no money" in report.stopped and report.budget_spent
    report = map_rows(odd, "mails.csv", "out", row_timeout=60)
    assert (report.done, report.failures) == (2, {"RowTimeout": 1})
    assert begun.count("mail 0") == 1 and begun.count("mail 1") == 2


def test_calls_that_never_end_end_the_job(
    never: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_threads, "MOST_LEFT", 4)

    def hang(mail: str) -> str:
        never.wait(60)
        return mail

    report = map_rows(hang, table("mails.csv", 100), "out", row_timeout=0.02, rows_at_once=2)
    assert report.stopped is not None and "are still running past" in report.stopped
    assert report.failed < 100


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_times_that_make_no_sense(seconds: float) -> None:
    table("mails.csv", 1)
    assert refused(row_timeout=seconds).startswith("row_timeout: expected seconds above 0, got ")


# What rows print


def test_what_rows_print_comes_as_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    gate = threading.Barrier(4)

    def loud(mail: str) -> str:
        print(mail, end="")
        print(f"{mail} says", end=" ", file=sys.stderr)
        gate.wait(60)
        print(" reads")
        gate.wait(60)
        print("so", file=sys.stderr)
        print("bye", mail, end="")
        return mail

    before = sys.stdout, sys.stderr
    map_rows(loud, table("mails.csv", 8), "out", rows_at_once=4, part_rows=3, is_quiet=True)
    assert (sys.stdout, sys.stderr) == before
    out, err = capsys.readouterr()
    mails = [f"mail {n}" for n in range(8)]
    assert sorted(out.splitlines()) == sorted(
        [f"{mail} reads" for mail in mails] + [f"bye {mail}" for mail in mails]
    )
    assert sorted(err.splitlines()) == [f"{mail} says so" for mail in mails]


# How far it is


def test_rows_are_counted_as_they_end() -> None:
    shown: list[str] = []
    texts: list[Callable[[], str]] = []
    counted = threading.Event()

    def slow(mail: str) -> str:
        if mail == "mail 4":
            raise ValueError
        if mail == "mail 9":
            assert counted.wait(60)
        return ask(mail)

    def look(self: Speed, now: float, count: int) -> None:
        speed(self, now, count)
        shown.append(texts[0]())
        if " 9 of 10 rows" in shown[-1]:
            counted.set()

    configure(provider=Echo())
    speed = runner.Speed.note
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner.Speed, "note", look)
        assert map_rows(slow, table("mails.csv", 10), "out", show=texts.append).done == 9
    seen = [line for line in shown if "] 9 of 10 rows, 1 failed, " in line]
    assert any("8 requests" in line for line in seen)
    assert texts[0]() == "", "the job is over"


def far(ended: int, failed: int = 12) -> Report:
    failures = Counter({"ValueError": failed})
    return Report(10_000, ended - failed, failures, Spent(1251, 80_000, 400))


def test_how_far_a_job_is() -> None:
    words = "1,240 of 10,000 rows, 12 failed, 8.3/s, 18 min left"
    assert far(1240).progress(8.3, 1) == f"{words}, 1,251 requests, 80,400 tokens, 1 process"
    assert far(1240).bar() == "[##------------------]"
    assert far(10_000, 0).progress(8.3, 2).startswith("10,000 of 10,000 rows, 8.3/s, 1,251 req")
    assert far(0, 0).progress(0, 1).startswith("0 of 10,000 rows, 1,251 requests")
    assert ", 3.0/min, 20 min left, " in far(9_940).progress(0.05, 1)
    assert (far(10_000).bar(), far(0, 0).bar()) == (f"[{'#' * 20}]", f"[{'-' * 20}]")
    assert Report().progress(0, 1).startswith("0 of 0 rows, 0 requests")
    assert Report().bar() == far(10_000).bar()


def test_a_forecast_settles_and_follows() -> None:
    speed = Speed(0.0, 0)
    assert speed.rate == 0
    counts = [0] * 20 + [8 * (n // 8) for n in range(1, 600)]
    rates = list[float]()
    for now, count in enumerate(counts, 1):
        speed.note(float(now), count)
        rates.append(speed.rate)
    assert all(0.85 < rate < 1.15 for rate in rates[180:]), "it settles, though rows end by eights"
    assert speed.rate == pytest.approx(1, rel=0.1)
    for now in range(620, 920):
        speed.note(float(now), counts[-1] + 5 * (now - 619))
    assert speed.rate == pytest.approx(5, rel=0.1)
    speed.note(919.0, 0)
    speed.note(930.0, 0)
    assert speed.rate >= 0


def test_a_result_that_is_not_of_its_type_fails_its_row() -> None:
    def wrong(mail: str) -> int:
        return 2**70 if mail == "mail 0" else mail  # pyright: ignore[reportReturnType]

    report = map_rows(wrong, table("mails.parquet", 2), "out")
    assert report.failures == {"CheckError": 2}
    large, text = (row["message"] for row in lines("out/errors-*"))
    assert "does not fit into 64 bits" in large and "result: expected int, got string" in text


def test_half_a_character_is_no_text_of_a_parquet_file() -> None:
    def cut(mail: str) -> str:
        return "\ud83d" if mail == "mail 1" else mail

    path = table("mails.csv", 3)
    assert map_rows(cut, path, "out", format="parquet").failed == 1
    assert lines("out/errors-*")[0]["message"] == (
        "result: half of a surrogate pair is not a character"
    )
    assert map_rows(cut, path, "texts", columns="none").done == 3
    assert lines("texts/part-*")[1]["result"] == "\ud83d"


def test_what_failed_rows_were_given_is_json() -> None:
    def fail(size: float) -> str:
        raise ValueError("no")

    sizes = [1.0, float("nan"), float("inf")]
    pl.DataFrame({"size": sizes}).write_parquet("in.parquet")
    assert map_rows(fail, "in.parquet", "out").failed == 3
    read = [
        json.loads(line, parse_constant=pytest.fail)["input"]
        for line in Path("out/errors-000000.jsonl").read_text().splitlines()
    ]
    assert read == [{"size": size} for size in (1.0, None, None)]


def test_rows_that_are_none_fail() -> None:
    good = "".join(f'{{"mail": "{n}"}}\n' for n in range(100))
    Path("in.jsonl").write_text(good + 'no\n{"mail": "x"}\n[1]\n{"mail": null}\n')
    configure(provider=Echo())
    report = map_rows(ask, "in.jsonl", "out")
    assert (report.rows, report.done, report.failed) == (104, 101, 3)
    failed = lines("out/errors-*")
    assert [row["row"] for row in failed] == [100, 102, 103]
    assert failed[0]["message"] == "in.jsonl:101: not JSON: expected ident at line 1 column 2"
    assert failed[0]["input"] == {}, "not a null for each column"
    Path("in.csv").write_text("mail\n" + "x\n" * 100 + "x,y\n")
    assert map_rows(ask, "in.csv", "csv").failed == 1
    assert lines("csv/errors-*")[0]["message"] == "in.csv:102: 2 values for 1 column"
    assert lines("csv/errors-*")[0]["input"] == {"mail": "x"}


def test_failed_rows_are_asked_again() -> None:
    def odd(asked: str) -> str:
        if int(asked.split()[1]) % 2:
            raise CheckError("odd")
        return asked

    path = table("mails.parquet", 10)
    configure(provider=Echo(odd))
    assert map_rows(ask, path, "out", part_rows=4).failed == 5
    echo = Echo()
    configure(provider=echo)
    report = map_rows(ask, path, "out", part_rows=4)
    assert (report.done, report.failed, echo.asked) == (5, 5, []), "without being told, none are"
    report = map_rows(ask, path, "out", part_rows=4, retry_failed=True)
    assert (report.done, report.failed) == (10, 0)
    assert sorted(echo.asked) == [f"mail {n}" for n in range(1, 10, 2)]
    map_rows(ask, path, "whole", part_rows=4)
    assert parts("out") == parts("whole")


@pytest.mark.parametrize(("most", "told"), [(3, "3 rows"), (0.1, "10% of the rows")])
def test_too_many_failures_end_the_job(most: float, told: str) -> None:
    def fail(asked: str) -> str:
        raise CheckError("no")

    configure(provider=Echo(fail))
    path = table("mails.csv", 1000)
    report = map_rows(ask, path, "out", max_failed=most, part_rows=50, rows_at_once=1)
    assert report.stopped == f"more than {told} failed"
    assert 0 < report.failed < 1000
    assert f"{1000 - report.failed} left" in str(report)


@pytest.mark.parametrize(
    "error", [AuthenticationFailed("no such key"), ConfigError("no model is configured")]
)
def test_what_no_other_row_would_do_better_ends_the_job(error: Exception) -> None:
    def refuse(asked: str) -> str:
        if asked == "mail 3":
            raise error
        return asked

    path = table("mails.csv", 20)
    before = Echo(refuse)
    configure(provider=before)
    report = map_rows(ask, path, "out", rows_at_once=1, part_rows=5)
    assert report.stopped == f"{type(error).__name__}: {error}"
    assert report.failed == 0 and report.done == len(lines("out/part-*")) == len(before.asked) - 1
    echo = Echo()
    configure(provider=echo)
    report = map_rows(ask, path, "out", part_rows=5)
    assert (report.done, report.stopped) == (20, None)
    answered = set(before.asked) - {"mail 3"}
    assert len(answered) >= 3
    assert sorted([*answered, *echo.asked]) == sorted(f"mail {n}" for n in range(20))


def test_a_server_that_stays_away_ends_the_job(server: FakeServer) -> None:
    configure(max_retries=0, max_wait=0)
    server.answers = [completion("one"), completion("two"), status(503)]
    report = map_rows(ask, table("mails.csv", 9), "out", rows_at_once=1)
    assert report.stopped is not None and report.stopped.startswith("ProviderError: ")
    assert (report.done, report.failed, len(lines("out/part-*"))) == (2, 0, 2)
    server.answers = [completion("more")]
    configure(max_retries=None, max_wait=None)
    report = map_rows(ask, "mails.csv", "out")
    assert (report.done, report.failed) == (9, 0)
    assert [row["result"] for row in lines("out/part-*")] == ["one", "two"] + ["more"] * 7
    assert len(server.requests) == 10


def test_an_error_of_a_server_that_is_there_fails_its_row() -> None:
    def broken(asked: str) -> str:
        raise ProviderError("the answer is damaged")

    configure(provider=Echo(broken))
    assert map_rows(ask, table("mails.csv", 2), "out").failures == {"ProviderError": 2}


# What is refused before anything is asked


def refused(**changes: Any) -> str:
    """What is said of a job that cannot be."""
    echo = Echo()
    configure(provider=echo)
    arguments: dict[str, Any] = {"function": ask, "table": "mails.csv", "out": "out", **changes}
    with pytest.raises((ConfigError, FileError)) as caught:
        map_rows(**arguments)
    assert echo.asked == [] and not Path("out").exists()
    return str(caught.value)


@pytest.mark.parametrize(
    ("package", "options"),
    [("polars", {"format": "parquet"}), ("distributed", {"workers": 1})],
)
def test_a_missing_package_is_told(
    package: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    table("mails.csv", 1)
    assert refused(**options).endswith(f"pip install {package}")


def test_a_parameter_without_a_column() -> None:
    Path("mails.csv").write_text("id,body\n1,hello\n")
    assert refused() == (
        "`ask` needs `mail: string`, and mails.csv has no column `mail`; its columns are id, body; "
        "--rename mail=... names another one"
    )
    assert refused(rename={"mail": "bdy"}).endswith("did you mean `body`?")
    assert refused(rename={"male": "body"}).endswith("parameter `male`; did you mean `mail`?")
    assert refused(constants={"x": 1}) == "`ask` has no parameter `x`; it has mail"


def length(mail: str, count: int) -> int:
    """Takes a number."""
    return count


def test_rows_that_do_not_fit() -> None:
    Path("in.csv").write_text('mail,count\n"a\nb",one\nc,2\nd,three\n')
    assert refused(function=length, table="in.csv", check_only=True) == (
        'in.csv:2: count: expected int, got string "one"\n'
        'in.csv:5: count: expected int, got string "three"'
    )
    pl.DataFrame({"mail": ["a"], "count": [date(2025, 1, 1)]}).write_parquet("in.parquet")
    told = refused(function=length, table="in.parquet", check_only=True)
    assert told.startswith("in.parquet, row 0: count: expected int, got ")
    assert "count: Date: cast them" in told
    Path("in.jsonl").write_text('{"mail": "a", "count": 1}\n[1]\n{"mail": "b"}\n')
    told = refused(function=length, table="in.jsonl", check_only=True)
    assert told.splitlines()[0] == "in.jsonl:2: a row is an object, got list [1]"
    assert told.splitlines()[1].startswith("in.jsonl:3: ")


def test_many_rows_that_do_not_fit_are_not_all_told() -> None:
    Path("mails.jsonl").write_text('{"mail": [1]}\n' * 200)
    for options, last in (
        ({}, "... and 95 rows more of the first 100"),
        ({"check_only": True}, "... and 195 rows more"),
        ({"check_only": True, "limit": 7}, "... and 2 rows more"),
    ):
        told = refused(table="mails.jsonl", **options).splitlines()
        assert len(told) == 6 and told[-1] == last


@pytest.mark.parametrize("bad", [0, 3, 99, 120])
@pytest.mark.parametrize("options", [{}, {"limit": 130}, {"max_failed": 1}, {"max_failed": 0.5}])
def test_a_row_that_does_not_fit_fails_wherever_it_stands(
    bad: int, options: dict[str, Any]
) -> None:
    counts = ["x" if row == bad else str(row) for row in range(150)]
    Path("in.csv").write_text("mail,count\n" + "".join(f"m,{count}\n" for count in counts))
    report = map_rows(length, "in.csv", "out", columns="none", part_rows=40, **options)
    rows = options.get("limit", 150)
    assert (report.done, report.failures, report.stopped) == (rows - 1, {"CheckError": 1}, None)
    (failed,) = lines("out/errors-*")
    assert failed["row"] == bad and 'expected int, got string "x"' in failed["message"]


def test_rows_that_do_not_fit_count_for_how_many_may_fail() -> None:
    Path("in.csv").write_text("mail,count\n" + "m,x\nm,y\nm,z\nm,4\n" * 60)
    report = map_rows(
        length, "in.csv", "out", columns="none", part_rows=4, max_failed=5, rows_at_once=1
    )
    assert report.stopped == "more than 5 rows failed" and report.failed < 100


@pytest.mark.parametrize("check_only", [True, False])
def test_a_function_that_takes_nothing_of_the_table(check_only: bool) -> None:
    table("mails.csv", 3)

    def nothing() -> str:
        return ask("hello")

    said = "takes no column of mails.csv: every row would be the same call; "
    hint = (
        "a parameter takes the column of its name, or --rename PARAMETER=COLUMN names one: id, mail"
    )
    assert refused(function=nothing, check_only=check_only) == (
        f"`nothing` {said}{hint}"
    )

    def other(text: str = "", times: int = 1) -> str:
        return ask(text * times)

    assert refused(function=other, check_only=check_only) == f"`other` {said}{hint}"
    told = refused(function=ask, constants={"mail": "hello"}, check_only=check_only)
    assert told.startswith(f"`ask` {said}")

    def anything(**given: str) -> str:
        return str(given)

    changes: dict[str, Any] = {"function": anything, "rename": {"mail": "male"}}
    assert "no column `male`" in refused(**changes, check_only=check_only)


def test_names_that_stand_for_two_things() -> None:
    Path("mails.csv").write_text("mail,result\na,b\n")
    assert refused().startswith("the column `result` of mails.csv has the name of a field of what ")
    told = "columns: mails.csv has no column `male`; did you mean `mail`?"
    assert refused(columns=["male"]) == told
    assert refused(columns={"mail": "mail"}).endswith("`columns` is called `rename`")
    assert refused(columns=["when"]).endswith("no column `when`; its columns are mail, result")
    told = refused(constants={"mail": "a"}, rename={"mail": "result"}, columns="none")
    assert told == "`mail` has both a value and a column; leave out --set or --rename"
    Path("mails.csv").write_text("mail,mail\na,b\n")
    assert refused() == "mails.csv:1: there are two columns `mail`"


@dataclass
class Seat:
    """A result with a field that has the name of the number of a row."""

    row: int
    letter: str


@dataclass
class Booking:
    """A result that has such a field further down."""

    seat: Seat


@pytest.mark.parametrize("keep", ["all", "none"])
@pytest.mark.parametrize("check_only", [True, False])
def test_a_field_of_the_result_called_row(keep: Any, check_only: bool) -> None:
    def seat(mail: str) -> Seat:
        return Seat(7, ask(mail))

    table("mails.csv", 2)
    assert refused(function=seat, columns=keep, check_only=check_only) == (
        "the result of `seat` has a field `row`, and `row` is the number of the row in the output; "
        "give the field another name, such as `row_number`"
    )


def test_a_field_called_row_further_down_is_no_column() -> None:
    def booking(mail: str) -> Booking:
        return Booking(Seat(7, mail))

    map_rows(booking, table("mails.csv", 2), "out", columns="none")
    assert lines("out/part-*") == [
        {"row": number, "seat": {"row": 7, "letter": f"mail {number}"}} for number in range(2)
    ]


def test_tables_that_cannot_be_read() -> None:
    assert refused(table="mails.txt").startswith("mails.txt: a table is a file that ends in .parq")
    assert "No such file" in refused(table="none.csv")
    Path("mails.csv").write_bytes(b"mail\n\xff\xfe\n")
    assert refused() == (
        "cannot read mails.csv: it is not UTF-8 text (line 2); --encoding names another encoding, "
        "such as cp1252"
    )
    for name in ("mails.csv", "mails.jsonl"):
        Path(name).write_text("\n\n")
        assert refused(table=name) == f"{name}:1: the file is empty"
    Path("mails.parquet").write_text("no parquet")
    assert refused(table="mails.parquet").startswith("cannot read mails.parquet: ")
    Path("folder.csv").mkdir()
    assert "Is a directory" in refused(table="folder.csv")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('2,"hello', ":3: the double quotes of this row do not match (line 153: unexpected end"),
        ('2,"hello\n3,"bye"', ":3: the double quotes of this row do not match (line 4: ',' exp"),
        ('2,"a"b', ":3: the double quotes of this row do not match (line 3: ',' expected after"),
        ('2,"a\nb"\n3,"c', ":5: the double quotes of this row do not match (line 155: unexpected"),
    ],
)
@pytest.mark.parametrize("is_late", [False, True])
def test_quotes_that_do_not_match(row: str, told: str, is_late: bool) -> None:
    others = "".join(f"{number},mail\n" for number in range(150))
    text = f"id,mail\n{others}1,hi\n{row}\n" if is_late else f"id,mail\n1,hi\n{row}\n{others}"
    Path("mails.csv").write_text(text)
    configure(provider=Echo())
    with pytest.raises(FileError) as caught:
        map_rows(ask, "mails.csv", "out", columns="none")
    assert "the double quotes of this row do not match" in str(caught.value)
    assert is_late or str(caught.value).startswith(f"mails.csv{told}")
    assert str(caught.value).endswith('and write "" for a " inside of it')
    assert not list(Path().glob("out/part-*"))


def test_quotes_of_a_header_that_do_not_match() -> None:
    Path("mails.csv").write_text('id,"mail\n1,hi\n2,ho\n')
    assert refused().startswith("mails.csv:1: the double quotes of this row do not match")


def test_quotes_that_match() -> None:
    Path("mails.csv").write_text('mail\n"a ""b"" c"\n"d\ne"\nf "g" h\n', newline="")
    configure(provider=Echo())
    map_rows(ask, "mails.csv", "out", columns="all")
    assert [row["mail"] for row in lines("out/part-*")] == ['a "b" c', "d\ne", 'f "g" h']


@pytest.mark.parametrize("name", ["rows_at_once", "limit"])
def test_numbers_that_make_no_sense(name: str) -> None:
    table("mails.csv", 1)
    assert refused(**{name: 0}) == f"{name}: expected 1 or more, got 0"
    assert refused(max_failed=-1) == "max_failed: expected 0 or more, got -1"


def test_a_parameter_without_a_type_takes_anything(capsys: pytest.CaptureFixture[str]) -> None:
    def show(mail) -> str:  # type: ignore[no-untyped-def]
        return repr(mail)

    map_rows(show, table("mails.csv", 1), "out", columns="none")
    said = "`mail` of `show` has no type: it takes any value of its column"
    assert said in capsys.readouterr().err


def test_only_checked() -> None:
    echo = Echo()
    configure(provider=echo)
    assert map_rows(ask, table("mails.csv", 3), "out", check_only=True).rows == 3
    assert echo.asked == [] and not Path("out").exists()


# A folder is of one job


def test_another_job_is_refused_and_the_parts_stay() -> None:
    configure(provider=Echo(), model="small")
    path = table("mails.csv", 3)
    map_rows(ask, path, "out")
    before = parts("out")

    def other(mail: str) -> str:
        return mail

    def said(function: Callable[..., Any] = ask, **changes: Any) -> str:
        with pytest.raises(ConfigError) as caught:
            map_rows(function, path, "out", **changes)
        assert parts("out") == before
        return str(caught.value)

    assert "started with a different function; it has 1 part" in said(other)
    assert "a different `limit`; " in said(limit=2)
    assert "a different `rename`, `columns`; " in said(columns="none", rename={"mail": "id"})
    configure(model="large")
    assert "a different model or settings; " in said()
    for part in before:
        Path("out", part).unlink()
    before = {}
    assert said().endswith("it has no parts: remove it, or name another folder")
    configure(model="small")
    table("mails.csv", 4)
    assert "holds another job, which was started with a different table; " in said()


def test_folders_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(provider=Echo())
    path = table("mails.csv", 2)
    Path("file").write_text("")
    with pytest.raises(ConfigError, match=r"cannot use .*file: File exists"):
        map_rows(ask, path, "file")
    Path("parts").mkdir()
    Path("parts/part-000000.jsonl").write_text("")
    with pytest.raises(ConfigError, match=r"has parts, but no job\.db"):
        map_rows(ask, path, "parts")
    Path("other").mkdir()
    with journaled("other/job.db"):
        ask("hello")
    with pytest.raises(ConfigError, match=r"job\.db is not the file of a job; name another folder"):
        map_rows(ask, path, "other")


def test_a_job_that_begins_in_the_folder_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    path = table("mails.csv", 2)
    begin = jobs.begin_journal

    def begin_late(folder: str, name: str) -> Any:
        monkeypatch.setattr(jobs, "begin_journal", begin)
        map_rows(ask, path, "out", limit=1)
        return begin(folder, name)

    configure(provider=Echo())
    monkeypatch.setattr(jobs, "begin_journal", begin_late)
    with pytest.raises(ConfigError, match="started with a different `limit`"):
        map_rows(ask, path, "out")
    assert [row["result"] for row in lines("out/part-*")] == ["mail 0"]


def folder_with(*names: str) -> Path:
    """The folder of a job that is done, in which there are such files besides."""
    configure(provider=Echo())
    map_rows(ask, table("mails.csv", 2), "out")
    for name in names:
        Path("out", name).write_text("mine")
    return Path("out")


def test_nothing_of_somebody_else_is_removed(tmp_path: Path) -> None:
    others = [".saft-mine", ".saft-", ".saft-0123456789abcdeg", ".saft-0123456789abcdef0", "x.tmp"]
    others += ["journal/000000.notes.txt", "journal/notes.tmp"]
    Path("out/journal").mkdir(parents=True)
    out = folder_with(*others, ".saft-0123456789abcdef", ".saft-fedcba9876543210")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (out / ".saft-aaaaaaaaaaaaaaaa").mkdir()
    (out / ".saft-bbbbbbbbbbbbbbbb").symlink_to(elsewhere)
    (out / "journal/000000.folder.jsonl").mkdir()
    (out / "journal/000000.link.jsonl").symlink_to(elsewhere)
    (out / "journal/000000.folder.tmp").mkdir()
    assert map_rows(ask, "mails.csv", "out").done == 2
    left = sorted(name for name in os.listdir(out) if name.startswith(".saft-"))
    kept = ["", "0123456789abcdef0", "0123456789abcdeg", "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"]
    assert left == [f".saft-{name}" for name in [*kept, "mine"]]
    assert all((out / name).exists() for name in others)
    assert elsewhere.read_text() == "mine"


@pytest.mark.parametrize(
    "text", ["notes\n", "notes", '{"saft": "journal"}\n', "[1]\n", "\n", '{"saft": "mop"', "\0\0"]
)
def test_a_file_that_is_not_of_a_job_stays_as_it_is(text: str) -> None:
    Path("out").mkdir()
    Path("out/job.db").write_text(text)
    path = table("mails.csv", 2)
    for check_only in (True, False):
        with pytest.raises(ConfigError, match=r"job\.db is (not )?a journal"):
            map_rows(ask, path, "out", check_only=check_only)
    assert Path("out/job.db").read_text() == text


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_is_not_followed(is_there: bool, tmp_path: Path) -> None:
    target = tmp_path / "target"
    if is_there:
        target.write_text("")
    Path("out").mkdir()
    Path("out/job.db").symlink_to(target)
    with pytest.raises(ConfigError, match=r"job\.db is a link"):
        map_rows(ask, table("mails.csv", 2), "out")
    assert target.exists() == is_there and not (is_there and target.read_text())


def test_a_job_that_was_killed_when_it_had_just_begun() -> None:
    Path("out").mkdir()
    Path("out/job.db").touch()
    configure(provider=Echo())
    assert map_rows(ask, table("mails.csv", 2), "out").done == 2


@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
def test_what_is_written_is_for_its_owner_alone() -> None:
    def odd(mail: str) -> str:
        if mail == "mail 1":
            raise ValueError
        return mail

    map_rows(odd, table("mails.csv", 2), "out")
    files = [path for path in Path("out").rglob("*") if path.is_file()]
    assert len(files) == 3 and {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_a_disk_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    echo = Echo()
    configure(provider=echo)
    path = table("mails.csv", 4)
    replace = os.replace

    def full(source: str, target: str) -> None:
        if "part-000001" in target:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        report = map_rows(ask, path, "out", part_rows=2)
    assert report.stopped is not None and "No space left on device; the kept" in report.stopped
    assert list(Path("out").glob(".*")) == []
    assert map_rows(ask, path, "out", part_rows=2).done == 4 == len(echo.asked)


def test_a_disk_that_is_full_before_the_job_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: object, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = table("mails.csv", 4)
    with monkeypatch.context() as patch:
        patch.setattr(LockedFile, "overwrite", full)
        with pytest.raises(ConfigError, match=r"cannot use .*job\.db.*: No space left"):
            map_rows(ask, path, "out")
    configure(provider=Echo())
    assert map_rows(ask, path, "out").done == 4


def test_a_file_of_somebody_else_stays_among_the_journals() -> None:
    configure(provider=Echo(), budget_requests=2)
    path = table("mails.csv", 4)
    assert map_rows(ask, path, "out").stopped is not None
    Path("out/journal").mkdir()
    Path("out/journal/notes.jsonl").write_text("[]\n")
    configure(budget_requests=None)
    assert map_rows(ask, path, "out").done == 4
    assert os.listdir("out/journal") == ["notes.jsonl"]


def test_one_process_at_a_time() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def wait(asked: str) -> str:
        entered.set()
        assert go_on.wait(60)
        return asked

    configure(provider=Echo(wait))
    path = table("mails.csv", 1)
    first = threading.Thread(target=map_rows, args=(ask, path, "out"))
    first.start()
    assert entered.wait(60)
    with pytest.raises(ConfigError, match=r"job\.db is in use by another run of this process"):
        map_rows(ask, path, "out")
    go_on.set()
    first.join()
    assert len(lines("out/part-*")) == 1


def test_what_was_answered_is_for_an_edited_function() -> None:
    echo = Echo()
    configure(provider=echo)
    path = table("mails.csv", 5)
    map_rows(ask, path, "out", part_rows=2)

    def edited(mail: str) -> str:
        return ask(mail) + (prompt("Read {again}", again="again").value if mail == "mail 4" else "")

    os.makedirs("new/journal")
    os.rename("out/job.db", "new/journal/before.db")
    edited.__name__ = "ask"
    del echo.asked[:]
    report = map_rows(edited, path, "new", part_rows=2)
    assert echo.asked == ["again"] and report.done == 5
    assert os.listdir("new/journal") == []


# Budgets


def test_a_budget_of_the_whole_job_is_never_passed_and_a_larger_one_goes_on() -> None:
    echo = Echo()
    configure(provider=echo, budget_requests=13)
    path = table("mails.csv", 40)
    report = map_rows(ask, path, "out", part_rows=5)
    assert len(echo.asked) == 13 == report.usage.requests
    assert report.stopped is not None and "raise `budget_requests` to continue" in report.stopped
    report = map_rows(ask, path, "out", part_rows=5)
    assert len(echo.asked) == 13, "what was paid before counts"
    assert report.usage.requests == 13 and report.stopped is not None
    configure(budget_requests=40)
    report = map_rows(ask, path, "out", part_rows=5)
    assert (report.done, report.stopped, report.usage.requests) == (40, None, 40)
    assert len(echo.asked) == 40


@pytest.mark.parametrize("fails", [False, True])
def test_a_row_that_catches_what_ends_the_job_is_asked_later(fails: bool) -> None:
    def stubborn(mail: str) -> str:
        try:
            return ask(mail)
        except BudgetSpent:
            if fails:
                raise ValueError("no money") from None
            return "no answer"

    echo = Echo()
    configure(provider=echo, budget_requests=3)
    path = table("mails.csv", 8)
    report = map_rows(stubborn, path, "out", part_rows=4)
    assert report.stopped is not None and "raise `budget_requests` to continue" in report.stopped
    assert report.failed == 0 and len(echo.asked) == 3
    configure(budget_requests=8)
    assert map_rows(stubborn, path, "out", part_rows=4).done == 8 == len(echo.asked)
    assert [row["result"] for row in lines("out/part-*")] == [f"mail {n}" for n in range(8)]


def test_a_budget_that_is_enough_is_no_hindrance() -> None:
    configure(provider=Echo(), budget_requests=50, budget_tokens=50 * 60)
    report = map_rows(ask, table("mails.csv", 50), "out", part_rows=7)
    assert (report.done, report.stopped) == (50, None)


def test_what_is_too_little_for_many_chunks_at_once_is_spent_by_fewer() -> None:
    # A row takes 15 tokens, and is guessed to take some 110 by its length.
    configure(provider=Echo(), budget_tokens=16 * 15 + 120)
    Path("mails.jsonl").write_text("".join(f'{{"mail": "{n:400}"}}\n' for n in range(16)))
    report = map_rows(ask, "mails.jsonl", "out", part_rows=1, rows_at_once=16)
    assert (report.done, report.stopped) == (16, None)


def test_a_budget_of_tokens_and_of_cost() -> None:
    prices = {"echo": {"input": 1.0, "output": 2.0}}
    path = table("mails.csv", 60)
    echo = Echo()
    configure(provider=echo, model="echo", prices=prices, budget_cost=20e-6 * 20)
    report = map_rows(ask, path, "out", part_rows=10, rows_at_once=1)
    assert report.stopped is not None and "budget_cost" in report.stopped
    assert report.cost == pytest.approx(len(echo.asked) * 20e-6)
    assert 10 <= len(echo.asked) <= 20
    configure(budget_cost=None, budget_tokens=15 * 40)
    report = map_rows(ask, path, "out", part_rows=10, rows_at_once=1)
    assert report.stopped is not None and "budget_tokens" in report.stopped
    assert report.usage.input_tokens + report.usage.output_tokens <= 15 * 40


class Lengthy(Echo):
    """Its replies are of 1,000 tokens, as far as they may be."""

    def complete(self, request: Request) -> Reply:
        output = min(1000, request.most_output or 1000)
        finish = "stop" if output == 1000 else "length"
        reply = super().complete(request)
        return replace(reply, input_tokens=22, output_tokens=output, finish=finish)


@pytest.mark.parametrize("part_rows", [3, 200])
@pytest.mark.parametrize("limit", [None, 1000])
def test_a_budget_holds_with_many_rows_at_once(part_rows: int, limit: int | None) -> None:
    path = table("mails.csv", 100)
    prices = {"lengthy": {"input": 10, "output": 10}}
    configure(provider=Lengthy(), prices=prices, budget_tokens=20_000, max_tokens=limit)
    report = map_rows(ask, path, "out", part_rows=part_rows, rows_at_once=64)
    assert report.stopped is not None and "budget_tokens" in report.stopped
    # Of the last request, whose reply is bound to what is left, the input is a guess.
    assert 15_000 < report.usage.input_tokens + report.usage.output_tokens <= 20_020
    configure(budget_tokens=None, budget_cost=0.4)
    report = map_rows(ask, path, "out", part_rows=part_rows, rows_at_once=64)
    assert report.stopped is not None and "budget_cost" in report.stopped
    assert 0.35 < report.spent.cost <= 0.4003


# Interrupts


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when a job has begun to end."""
    event = threading.Event()
    stop = runner.JobRun.stop

    def told(self: runner.JobRun, why: Any) -> None:
        stop(self, why)
        event.set()

    monkeypatch.setattr(runner.JobRun, "stop", told)
    return event


def test_an_interrupt_waits_for_the_rows_under_way(
    stopped: threading.Event, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFT_USAGE", "1")

    def answer(asked: str) -> str:
        if asked == "mail 2":
            os.kill(os.getpid(), signal.SIGINT)
            assert stopped.wait(60)
        return asked

    echo = Echo(answer)
    configure(provider=echo)
    path = table("mails.csv", 30)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        map_rows(ask, path, "out", rows_at_once=1, part_rows=10)
    asked = echo.asked
    assert asked[-1] == "mail 2" and len(asked) < 20
    count = len(asked)
    told = rf"30 rows: {count} done, {30 - count} left; .*; {count} answers are kept in .*job\.db; "
    said = capsys.readouterr().err
    assert re.search(told, said) and f"{count} prompts: {count} requests, " in said
    assert [row["mail"] for row in lines("out/part-*")] == asked
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    configure(provider=(echo := Echo()))
    assert map_rows(ask, path, "out", part_rows=10).done == 30
    assert sorted([*asked, *echo.asked]) == sorted(f"mail {n}" for n in range(30))
    assert [row["row"] for row in lines("out/part-*")] == [*range(30)]


@pytest.mark.parametrize("name", ["mails.jsonl", "mails.parquet"])
def test_what_has_ended_can_be_read_after_a_stop(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(asked: str) -> str:
        if asked == "mail 1":
            raise ProviderError("the answer is damaged")
        return asked

    path = table(name, 12)
    configure(provider=Echo(answer))
    map_rows(ask, path, "whole", part_rows=5)
    with configure(budget_requests=7):
        report = map_rows(ask, path, "out", part_rows=5, rows_at_once=1)
    assert (report.done, report.failed, report.left) == (6, 1, 5)
    assert "1 failed (ProviderError 1; errors-*.jsonl)" in str(report)
    suffix = path.suffix
    found = parts("out")
    assert sorted(found) == ["errors-000000.jsonl", f"part-000000{suffix}", f"part-000001{suffix}"]
    assert found[f"part-000001{suffix}"] != parts("whole")[f"part-000001{suffix}"]

    def killed(*_: object) -> None:
        """Writes nothing of the rows that have ended since."""

    with monkeypatch.context() as patch:
        patch.setattr(OutputFolder, "write", killed)
        assert map_rows(ask, path, "out", part_rows=5).done == 11
        assert parts("out") == found
    map_rows(ask, path, "out", part_rows=5)
    assert parts("out") == parts("whole")


def test_a_second_interrupt_ends_it_at_once(stopped: threading.Event) -> None:
    never = threading.Event()

    def answer(asked: str) -> str:
        if asked == "mail 0":
            os.kill(os.getpid(), signal.SIGINT)
            assert stopped.wait(60)
            os.kill(os.getpid(), signal.SIGINT)
            never.wait(60)
        return asked

    configure(provider=Echo(answer))
    with pytest.raises(KeyboardInterrupt):
        map_rows(ask, table("mails.csv", 3), "out")
    never.set()
    assert parts("out") == {}


def test_rows_that_do_not_end_are_left_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()
    monkeypatch.setattr(runner, "GRACE", 0.0)

    def answer(asked: str) -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        never.wait(60)
        return asked

    configure(provider=Echo(answer))
    with pytest.raises(SystemExit) as caught:
        map_rows(ask, table("mails.csv", 1), "out")
    never.set()
    assert caught.value.code == 128 + signal.SIGTERM


def test_rows_under_way_are_waited_for_when_a_part_cannot_be_written(
    stopped: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def answer(asked: str) -> str:
        if asked == "mail 1":
            begun.set()
        assert (stopped if asked == "mail 1" else begun).wait(60)
        return asked

    replace = os.replace

    def full(source: str, target: str) -> None:
        if "part-000000" in target:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    configure(provider=Echo(answer))
    report = map_rows(ask, table("mails.csv", 2), "out", part_rows=1)
    stopped.set()
    assert report.stopped is not None and "No space left on device" in report.stopped
    assert report.done == 2 and not list(parts("out"))


def test_one_interrupt_while_a_part_is_written_leaves_it_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write = pl.DataFrame.write_parquet

    sent: list[int] = []

    def interrupted_write(self: pl.DataFrame, *arguments: Any, **named: Any) -> None:
        if not sent:
            sent.append(signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        write(self, *arguments, **named)

    path = table("mails.parquet", 4)
    monkeypatch.setattr(pl.DataFrame, "write_parquet", interrupted_write)
    configure(provider=Echo())
    with pytest.raises(KeyboardInterrupt):
        map_rows(ask, path, "out", part_rows=2, rows_at_once=1)
    assert sent and {pl.read_parquet(path).height for path in Path("out").glob("part-*")} == {2}


def test_in_another_thread_signals_are_left_alone() -> None:
    configure(provider=Echo())
    before = signal.getsignal(signal.SIGINT)
    path = table("mails.csv", 2)
    thread = threading.Thread(target=map_rows, args=(ask, path, "out"))
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before
    assert len(lines("out/part-*")) == 2


# Scripts


TRIAGE = """\
from lib.words import Word, loud
import lib.words
from runtime_support.ops import read_text
class Later:
    text: "str"
def triage(mail: str) -> Word:
    from lib.words import loud as louder
    from own_units import UNIT
    return Word(louder(mail) + lib.words.MARK + UNIT, read_text("note.txt"))
"""
WORDS = """\
from __future__ import annotations
from dataclasses import dataclass
MARK = "!"
@dataclass(frozen=True)
class Word:
    text: str
    note: str
    inner: list[Word] | None = None
def loud(text: str) -> str:
    return text.upper()
"""


def test_a_script_finds_its_modules_and_hides_none_of_others() -> None:
    home = Path("home")
    home.mkdir()
    (home / "note.txt").write_text("a note")
    (home / "own_units.py").write_text("UNIT = ' m'\n")
    Path("note.txt").write_text("another note")
    script = Script(
        (Module("lib.words", WORDS), Module("triage", TRIAGE)), "triage", str(home.absolute())
    )
    modules, path = set(sys.modules), list(sys.path)
    map_rows(script, table("mails.csv", 2), "out", columns="none")
    second = {"text": "MAIL 1! m", "note": "a note", "inner": None}
    assert lines("out/part-*")[1] == {"row": 1, **second}
    assert sys.path == path
    assert not {"triage", "lib", "lib.words"} & (set(sys.modules) - modules)
    assert read_text("note.txt") == "another note"
    sys.modules.pop("own_units")
