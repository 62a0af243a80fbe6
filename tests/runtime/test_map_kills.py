"""A job that is killed comes to the same parts, and asks no row twice but those under way."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runtime_support import prompt
from runtime_support._journal.journal import Journal, entries
from runtime_support.map import map_rows
from runtime_support.map._store import MOST_ENDS
from runtime_support.providers._wires import chat
from tests.support.fake_server import Answer, FakeServer, completion
from tests.support.forks import comes_to_its_end

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.one_python,
]

ROWS = 10
IN_FLIGHT = 3


def ask(mail: str) -> str:
    """Two prompts a row; one row has no answer."""
    first = prompt("Read {mail}", mail=mail).value
    if mail == "mail 4":
        raise ValueError(first)
    return prompt("And {mail}", mail=first).value


class Model:
    """Answers each question in its own way, and counts them."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> Answer:
        asked = body["messages"][0]["content"]
        self.asked[asked] += 1
        return completion(f"{asked}?")


def run(folder: Path, prepare: Callable[[], object]) -> bool:
    """Runs the job in a process of its own; whether it came to its end."""

    def work() -> None:
        prepare()
        map_rows(ask, folder / "in.jsonl", folder / "out", rows_at_once=IN_FLIGHT, part_rows=4)

    return comes_to_its_end(work, folder / "errors")


def dying(point: str, count: int, *, before: bool) -> Callable[[], None]:
    """Has a process kill itself at a reply, a commit, or when a file is put or taken away."""

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        left = itertools.count(1)

        def call(*arguments: Any, **names: Any) -> Any:
            is_last = next(left) == count
            if is_last and before:
                os.kill(os.getpid(), signal.SIGKILL)
            result = function(*arguments, **names)
            if is_last:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call

    def prepare() -> None:
        match point:
            case "reply":
                chat.ChatReader.read = counted(chat.ChatReader.read)
            case "sync":
                commit = Journal._commit  # pyright: ignore[reportPrivateUsage]
                Journal._commit = counted(commit)  # pyright: ignore[reportPrivateUsage]
            case _:
                # One count for all that is done to files.
                change = counted(lambda function, *arguments: function(*arguments))
                for name in ("replace", "unlink", "fsync"):
                    function = getattr(os, name)
                    setattr(os, name, lambda *a, function=function: change(function, *a))

    return prepare


@pytest.fixture
def place(server: FakeServer, tmp_path: Path) -> Path:
    prompt("what loads and connects is loaded before the processes are forked")
    rows = (json.dumps({"mail": f"mail {number}"}) + "\n" for number in range(ROWS))
    (tmp_path / "in.jsonl").write_text("".join(rows))
    return tmp_path


def outcome(folder: Path) -> dict[str, bytes]:
    """All that a job leaves, but for its own account."""
    out = folder / "out"
    found = {path.name: path.read_bytes() for path in out.iterdir() if path.suffix == ".jsonl"}
    assert sorted(os.listdir(out)) == sorted(["job.db", *found])
    return found


@pytest.mark.heavy
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize(("point", "most"), [("reply", 9), ("sync", 12), ("file", 100)])
def test_killed_at_each_point(
    server: FakeServer, place: Path, point: str, most: int, before: bool
) -> None:
    model = server.responder = Model()
    assert run(place, lambda: None)
    whole, needed = outcome(place), sum(model.asked.values())
    assert needed == 2 * ROWS - 1 and set(model.asked.values()) == {1}
    for count in range(1, most):
        model.asked.clear()
        folder = place / f"{point}-{count}"
        folder.mkdir()
        (folder / "in.jsonl").symlink_to(place / "in.jsonl")
        if run(folder, dying(point, count, before=before)):
            break
        assert run(folder, lambda: None)
        assert outcome(folder) == whole
        twice = sum(model.asked.values()) - needed
        assert twice <= IN_FLIGHT, f"{twice} were asked twice"
    else:
        assert point != "file"


@pytest.mark.heavy
def test_killed_again_and_again(server: FakeServer, place: Path) -> None:
    model = server.responder = Model()
    assert run(place, lambda: None)
    whole, needed = outcome(place), sum(model.asked.values())
    folder = place / "again"
    folder.mkdir()
    (folder / "in.jsonl").symlink_to(place / "in.jsonl")
    model.asked.clear()
    kills = 0
    while not run(folder, dying(("reply", "sync", "reply")[kills % 3], 4, before=False)):
        kills += 1
    assert kills >= 4
    assert outcome(folder) == whole
    assert sum(model.asked.values()) <= needed + kills * IN_FLIGHT


def test_what_a_killed_process_has_paid_counts(server: FakeServer, place: Path) -> None:
    server.responder = Model()
    assert not run(place, dying("reply", 6, before=False))
    assert run(place, lambda: None)
    assert sum("used" in entry for entry in entries(str(place / "out/job.db"))) == 2 * ROWS - 1


@pytest.mark.parametrize("deadly", [0, 5])
def test_a_row_that_ends_its_process_is_given_up_alone(
    server: FakeServer, place: Path, deadly: int
) -> None:
    model = server.responder = Model()

    def end_or_ask(mail: str) -> str:
        if mail == f"mail {deadly}":
            os.kill(os.getpid(), signal.SIGKILL)  # as `os._exit` does, and the lack of memory
        return prompt("Read {mail}", mail=mail).value

    def work() -> None:
        map_rows(end_or_ask, place / "in.jsonl", place / "out", rows_at_once=2, part_rows=2)

    # Each reply that is kept allows as many losses again.
    losses = 0
    while not comes_to_its_end(work, place / "errors"):
        losses += 1
        assert losses <= ROWS + 2 * MOST_ENDS
    number = deadly // 2
    (line,) = (place / f"out/errors-{number:06d}.jsonl").read_text().splitlines()
    lost = json.loads(line)
    assert (lost["row"], lost["error"]) == (deadly, "WorkerLost")
    assert lost["message"] == "its process ended 3 times while it ran alone"
    (other,) = (place / f"out/part-{number:06d}.jsonl").read_text().splitlines()
    assert json.loads(other)["row"] == 4 * number + 1 - deadly
    assert len(list((place / "out").glob("errors-*"))) == 1
    assert len(list((place / "out").glob("part-*"))) == 5
    assert max(model.asked.values()) <= 3 * MOST_ENDS, "others are not asked again and again"


def kill_at(point: str, times: int, place: Path, work: Callable[[], object]) -> None:
    """Kills so many processes of the job at `point`, as somebody outside would."""
    for _ in range(times):
        assert not comes_to_its_end(work, place / "errors"), point


@pytest.mark.parametrize("times", [3, 4, 5])
def test_kills_before_any_reply_fail_no_row(server: FakeServer, place: Path, times: int) -> None:
    model = server.responder = Model()
    kill = dying("reply", 1, before=True)  # the reply has come, and nobody has read it

    def work(prepare: Callable[[], object]) -> None:
        prepare()
        map_rows(ask, place / "in.jsonl", place / "out", rows_at_once=IN_FLIGHT)

    kill_at("reply", times, place, lambda: work(kill))
    assert comes_to_its_end(lambda: work(lambda: None), place / "errors")
    failed = [json.loads(line) for one in (place / "out").glob("errors-*") for line in one.open()]
    assert [(one["row"], one["error"]) for one in failed] == [(4, "ValueError")]
    assert len(rows_of(place)) == ROWS - 1 and model.asked


@pytest.mark.parametrize("times", [3, 4, 5])
def test_rows_whose_answers_are_kept_are_not_failed_with_a_slow_one(
    server: FakeServer, place: Path, times: int
) -> None:
    model = server.responder = Model()

    def slow(mail: str) -> str:
        answer = prompt("Read {mail}", mail=mail).value
        if mail == "mail 9" and not (place / "well").exists():
            os.kill(os.getpid(), signal.SIGKILL)  # from outside, while Python works on it
        return answer

    def work() -> None:
        map_rows(slow, place / "in.jsonl", place / "out", rows_at_once=1)

    kill_at("the end of the last row", times, place, work)
    (place / "well").touch()
    assert comes_to_its_end(work, place / "errors")
    assert not list((place / "out").glob("errors-*")) and len(rows_of(place)) == ROWS
    assert set(model.asked.values()) == {1}


@pytest.mark.heavy
def test_only_the_row_that_was_slow_all_the_time_is_failed(
    server: FakeServer, place: Path
) -> None:
    model = server.responder = Model()

    def slow(mail: str) -> str:
        answer = prompt("Read {mail}", mail=mail).value
        if mail == "mail 9" and not (place / "well").exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    def work(**options: Any) -> None:
        map_rows(slow, place / "in.jsonl", place / "out", rows_at_once=1, **options)

    kills = 0
    while not comes_to_its_end(work, place / "errors"):
        kills += 1
        assert kills < 10
    (line,) = (place / "out/errors-000000.jsonl").read_text().splitlines()
    assert (kills, json.loads(line)["row"]) == (7, 9) and len(rows_of(place)) == ROWS - 1
    (place / "well").touch()
    assert comes_to_its_end(lambda: work(retry_failed=True), place / "errors")
    assert len(rows_of(place)) == ROWS and set(model.asked.values()) == {1}


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows in the parts."""
    parts = sorted((folder / "out").glob("part-*"))
    return [json.loads(line) for part in parts for line in part.open()]


def test_a_job_that_comes_on_gives_no_row_up(server: FakeServer, place: Path) -> None:
    server.responder = Model()
    kills = 0
    while not run(place, dying("reply", IN_FLIGHT + 2, before=False)):
        kills += 1
        assert kills < 30
    assert kills >= 3
    failed = [json.loads(line) for one in (place / "out").glob("errors-*") for line in one.open()]
    assert [one["error"] for one in failed] == ["ValueError"]


def test_rows_are_marked_when_they_begin(tmp_path: Path) -> None:
    at_once, seen = 9, list[int]()
    (tmp_path / "in.jsonl").write_text('{"mail": "a"}\n' * 2 * at_once)

    def look() -> None:
        with closing(sqlite3.connect(tmp_path / "out/job.db")) as database:
            query = "select count(*) from row where status = 'running'"
            seen.extend(database.execute(query).fetchone())

    begun = threading.Barrier(at_once, look)  # one of them looks while all are under way

    def wait_for_all(mail: str) -> str:
        begun.wait(60)
        return mail

    report = map_rows(wait_for_all, tmp_path / "in.jsonl", tmp_path / "out", rows_at_once=at_once)
    assert report.done == 2 * at_once
    assert seen == [at_once, at_once]
