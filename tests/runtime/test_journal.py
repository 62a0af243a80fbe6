"""Journals: what is kept, what is asked again, and what is wrong with a file."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runtime_support import (
    BudgetSpent,
    ConfigError,
    ContractError,
    JournalError,
    JournalInUse,
    ProgramError,
    ProviderError,
    Refused,
    Reply,
    Request,
    TruncatedReply,
    configure,
    ops,
    overlap,
    program,
    prompt,
)
from runtime_support._budgets import current_usage
from runtime_support._core import scopes as places
from runtime_support._core import spending
from runtime_support._core.scopes import PromptKey
from runtime_support._core.spending import current_meter
from runtime_support._journal import hook as keeping
from runtime_support._journal import journal as journals
from runtime_support._journal import json_lines as lines
from runtime_support._journal.journal import Journal, RowKind, is_in_use
from runtime_support._journal.journal import entries as rows
from runtime_support.programs._prompting import Plan
from runtime_support.programs._prompting import run as run_plan
from runtime_support.runs import (
    decide,
    idempotency_key,
    journal_scope,
    journaled,
    waiting_calls,
)
from runtime_support.testing import Scripted, tool_request
from tests.runtime.conftest import KEY
from tests.support.fake_server import FakeServer, calling, completion, status, streamed
from tests.support.forks import comes_to_its_end
from tests.support.full_disk import fail_rows, limit_pages

Script = Callable[..., Scripted]
ROOT = Path(__file__).parents[2]
FILE = "run.journal"


class Killed(KeyboardInterrupt):
    """Ends a run as a signal does."""


@dataclass
class Order:
    id: int
    items: list[str]


def entries(path: str = FILE) -> list[dict[str, Any]]:
    return list(rows(path))


def everything() -> str:
    """All that is in the file, and beside it."""
    return "".join(json.dumps(one, ensure_ascii=False) for one in rows(FILE))


def ask(n: object, **options: Any) -> str:
    return prompt("{n}", n=n, options=options).value


def numbered(server: FakeServer) -> None:
    """Has the server answer with the number of the request."""
    server.responder = lambda _: completion(f"{len(server.requests)}")


def test_what_was_answered_is_not_asked_again(server: FakeServer) -> None:
    numbered(server)

    def run() -> list[str]:
        with journaled(FILE):
            return [ask(n) for n in (1, 2, 1)]

    assert run() == run() == run() == ["1", "2", "3"]
    assert len(server.requests) == 3


def test_no_key_and_no_client_are_needed_for_what_is_kept(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with journaled(FILE):
        assert ask(1) == "ok"
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setattr("runtime_support.providers._made", {})
    configure(base_url=None)
    with journaled(FILE):
        assert ask(1) == "ok"
        with pytest.raises(ConfigError, match="no OPENAI_API_KEY"):
            ask(2)


def test_the_variable_is_for_the_process(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SAFT_JOURNAL", FILE)
    for _ in range(2):
        monkeypatch.setattr(places, "_root", places.RunScope())
        assert [ask(1), ask(2)] == ["ok", "ok"]
        keeping.close_journals("failed")
    assert len(server.requests) == 2
    told = capsys.readouterr().err.splitlines()
    kept = "2 answers are kept in run.journal; run the same command again to resume"
    assert told[0] == f"saftc: {kept}"
    assert "run.journal: resumes the run, last started 2" in told[1]
    assert told[1].endswith("; 2 answers are kept")


def test_a_refusal_is_no_kept_answer(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SAFT_JOURNAL", FILE)
    server.answers = [completion("ok"), completion("No.", finish="content_filter")]
    assert ask(1) == "ok"
    with pytest.raises(Refused):
        ask(2)
    keeping.close_journals("failed")
    kept = "1 answer is kept in run.journal; run the same command again to resume"
    assert capsys.readouterr().err == f"saftc: {kept}\n"
    ended = entries()[-1]
    assert (ended["kept"], ended["new"]) == (0, 1)


def test_another_model_is_asked_anew(server: FakeServer) -> None:
    numbered(server)
    with journaled(FILE):
        assert ask(1) == "1"
    configure(model="other")
    with journaled(FILE):
        assert ask(1) == "2"
    configure(model="fake")
    with journaled(FILE):
        assert ask(1) == "1"


def test_an_edited_script_asks_what_is_new(server: FakeServer) -> None:
    numbered(server)
    with journaled(FILE):
        assert [ask("a"), ask("b")] == ["1", "2"]
    with journaled(FILE):
        assert [ask("c"), ask("b")] == ["3", "2"]


def test_what_failed_is_not_kept(server: FakeServer) -> None:
    server.answers = [status(500), status(400, "no"), completion("ok")]
    with pytest.raises(ProviderError, match="no"), journaled(FILE):
        ask(1)
    assert [entry for entry in entries() if "at" in entry] == []
    with journaled(FILE):
        assert ask(1) == "ok"
    assert len(server.requests) == 3


def test_a_server_that_stays_away(server: FakeServer) -> None:
    def inner() -> str:
        return ask("inside")

    def run() -> str:
        with journaled(FILE):
            return prompt("{inner}", inner=inner).value

    server.answers = [calling(("inner", {})), status(503, "gone")]
    with (
        configure(max_wait=0.05),
        pytest.raises(ProviderError, match="gone; ask again later, or raise `max_wait`"),
    ):
        run()
    assert {len(body["messages"]) for body in server.bodies[1:]} == {1}, "no model is told"
    count = len(server.requests)
    server.answers = [completion("a"), completion("b")]
    assert run() == "b"
    assert len(server.requests) == count + 2


def test_a_stream_is_read_inside_of_the_block(server: FakeServer) -> None:
    server.answers = [streamed("one", " two")]
    with journaled(FILE):
        answer = prompt("say", stream=True)
    hint = "the run is over; ask, and read streams, before the journal is closed"
    with pytest.raises(JournalError, match=hint):
        assert answer.value is None


def test_calls_of_tools_are_not_made_again(scripted: Script) -> None:
    called: list[tuple[int, str]] = []

    def square(x: int) -> int:
        called.append((x, idempotency_key()))
        if x > 3:
            raise ValueError("too large")
        return x * x

    model = scripted([tool_request("square", x=3), tool_request("square", x=4)], "done")
    durations: list[list[float]] = []
    for _ in range(2):
        with journaled(FILE):
            result = prompt("{square}", square=square)
        assert result.value == "done"
        assert [call.result for call in result.tool_calls] == ["9", None]
        assert [call.error for call in result.tool_calls] == [None, "ValueError: too large"]
        assert result.usage.requests == 2
        durations.append([call.duration for call in result.tool_calls])
    assert durations[0] == durations[1]  # a script may go by them
    assert [x for x, _ in called] == [3, 4]
    assert len(model.requests) == 2


def test_the_key_of_a_call_is_the_same_when_it_has_to_be_made_again(scripted: Script) -> None:
    keys: list[str] = []

    def send(to: str) -> str:
        keys.append(idempotency_key())
        if len(keys) == 1:
            raise Killed
        return "sent"

    scripted(tool_request("send", to="Ada"), "done")
    with pytest.raises(Killed), journaled(FILE):
        prompt("{send}", send=send)
    with journaled(FILE):
        assert prompt("{send}", send=send).value == "done"
    assert keys[0] == keys[1] != ""


def test_prompts_inside_a_tool_are_kept_under_its_call(scripted: Script) -> None:
    def inner(x: int) -> str:
        text = prompt("inner {x}", x=x).value
        if text == "b" and not kills:
            kills.append(x)
            raise Killed
        return text

    kills: list[int] = []
    model = scripted([tool_request("inner", x=1), tool_request("inner", x=1)], "a", "b", "end")
    with pytest.raises(Killed), journaled(FILE):
        prompt("{inner}", inner=inner)
    with journaled(FILE):
        result = prompt("{inner}", inner=inner)
    assert [call.result for call in result.tool_calls] == ["a", "b"]
    assert len(model.requests) == 4


def test_a_prompt_that_failed_is_asked_again_from_its_first_unusable_reply(
    scripted: Script,
) -> None:
    calls: list[int] = []

    def look(x: int) -> int:
        calls.append(x)
        return x

    model = scripted(tool_request("look", x=1), "no", "never", "7")
    for wanted in (None, 7):
        with journaled(FILE):
            if wanted is None:
                with pytest.raises(ContractError):
                    prompt("{look}", look=look, returns=int)
            else:
                assert prompt("{look}", look=look, returns=int).value == wanted
    assert (len(model.requests), calls) == (4, [1])


def test_prompts_of_programs_are_kept(scripted: Script) -> None:
    def name(n: int) -> str:
        return prompt("name {n}", n=n).value

    written = '{"$map": {"over": [1, 1, 2], "as": "n", "do": {"name": {"n": {"$ref": "n"}}}}}'
    model = scripted(written, "a", "b", "c")
    for _ in range(2):
        with journaled(FILE):
            assert program("{name}", name=name).value == ["a", "b", "c"]
    assert len(model.requests) == 4


def test_calls_of_programs_are_not_made_again(scripted: Script) -> None:
    made: list[tuple[Any, str]] = []

    def order(item: str) -> Order:
        made.append((item, idempotency_key()))
        return Order(len(made), [item])

    def charge(order: Order) -> str:
        made.append((order, idempotency_key()))
        if order.id == 3 and not kills:
            kills.append(order.id)
            raise Killed
        return f"charged {order.id}"

    def check(text: str) -> str:
        made.append((text, idempotency_key()))
        raise ValueError("no good")

    kills: list[int] = []
    charged = '{"charge": {"order": {"order": {"item": {"$ref": "n"}}}}}'
    written = f'{{"$map": {{"over": ["a", "b"], "as": "n", "do": {charged}}}}}'
    failing = '{"check": {"text": "x"}}'
    scripted(written, failing)

    def run() -> tuple[list[str], list[float]]:
        with journaled(FILE):
            result = program("{order} {charge}", order=order, charge=charge)
            with pytest.raises(ProgramError, match="ValueError: no good") as caught:
                program("{check}", check=check)
        assert [call.tool for call in caught.value.tool_calls] == ["check"]
        return result.value, [call.duration for call in result.tool_calls]

    with pytest.raises(Killed):
        run()
    first = run()
    assert first == run()
    assert first[0] == ["charged 1", "charged 3"]
    called = [what for what, _ in made]
    assert called == ["a", Order(1, ["a"]), "b", Order(3, ["b"]), Order(3, ["b"]), "x"]
    keys = [key for _, key in made]
    assert keys[3] == keys[4] and len(set(keys)) == 5


def test_calls_of_programs_with_what_is_no_json_are_made_again(scripted: Script) -> None:
    made: list[object] = []

    def secret() -> object:
        made.append(1)
        return {1, 2}

    def size(of: object) -> int:
        made.append(of)
        return 2

    scripted('{"size": {"of": {"secret": {}}}}')
    for _ in range(2):
        with journaled(FILE):
            assert program("{secret} {size}", secret=secret, size=size).value == 2
    assert made == [1, {1, 2}] * 2


def test_calls_of_a_plan_are_not_made_again() -> None:
    made: list[str] = []

    def send(to: str) -> str:
        made.append(to)
        return f"sent to {to}"

    plan = Plan.read([{"send": {"to": "Ada"}}, {"send": {"to": "Bo"}}], [send])
    for _ in range(2):
        with journaled(FILE):
            assert run_plan(plan) == ["sent to Ada", "sent to Bo"]
            assert run_plan(plan) == ["sent to Ada", "sent to Bo"], "run twice, it sends twice"
    assert made == ["Ada", "Bo"] * 2


def test_a_plan_that_closes_over_another_value_is_run() -> None:
    paid: list[str] = []

    def run(*orders: str) -> list[str]:
        def one(order: str) -> str:
            def pay() -> str:
                paid.append(order)
                return f"{order} is paid"

            return run_plan(Plan.read({"pay": {}}, [pay]))

        with journaled(FILE):
            return [one(order) for order in orders]

    assert run("A", "B") == ["A is paid", "B is paid"]
    assert run("B", "C") == ["B is paid", "C is paid"]
    assert paid == ["A", "B", "C"]


@pytest.mark.parametrize("is_program", [False, True])
def test_a_call_in_doubt_can_stop_the_run(
    scripted: Script, monkeypatch: pytest.MonkeyPatch, is_program: bool
) -> None:
    sent: list[str] = []

    def send(to: str) -> str:
        sent.append(to)
        if len(sent) == 1:
            raise Killed
        return "sent"

    def run() -> str:
        with journaled(FILE):
            if is_program:
                return program("{send}", send=send).value
            return prompt("{send}", send=send).value

    if is_program:
        scripted('{"send": {"to": "Ada"}}')
    else:
        scripted(tool_request("send", to="Ada"), "sent")
    monkeypatch.setenv("SAFT_ON_INTERRUPTED_CALL", "stop")
    with pytest.raises(Killed):
        run()
    said = r'send \{"to": ?"Ada"\} started 2\d+-\d+-\d+ \d+:\d+, and its run ended before'
    with pytest.raises(JournalError, match=said):
        run()
    monkeypatch.setenv("SAFT_ON_INTERRUPTED_CALL", "maybe")
    with pytest.raises(
        ConfigError, match="SAFT_ON_INTERRUPTED_CALL: expected call or stop, got 'maybe'"
    ):
        run()
    assert sent == ["Ada"]
    monkeypatch.delenv("SAFT_ON_INTERRUPTED_CALL")
    assert run() == "sent"
    monkeypatch.setenv("SAFT_ON_INTERRUPTED_CALL", "stop")
    assert run() == "sent"
    assert sent == ["Ada", "Ada"]


def test_calls_that_overlap_have_their_places_in_the_order_of_the_script(
    server: FakeServer,
) -> None:
    numbered(server)

    def chain(n: int) -> str:
        return ask(n) + ask("same")

    def run(most: int) -> list[str]:
        configure(max_in_flight=most)
        with journaled(FILE):
            return list(overlap(chain, range(12)))

    first = run(4)
    assert len(set(first)) == 12
    assert run(4) == first
    assert run(16) == first
    assert run(1) == first, "one after the other the same prompts are asked"
    assert run(4) == first
    assert len(server.requests) == 24


def test_threads_of_ones_own_with_scopes(server: FakeServer) -> None:
    numbered(server)

    def one(n: int) -> str:
        with journal_scope(f"row/{n}"):
            return ask("same")

    with journaled(FILE), ThreadPoolExecutor(4) as pool:
        from contextvars import copy_context

        first = [f.result() for f in [pool.submit(copy_context().run, one, n) for n in range(8)]]
    with journaled(FILE):
        assert [one(n) for n in reversed(range(8))] == first[::-1]
    assert len(server.requests) == 8


def test_a_budget_counts_what_is_kept(server: FakeServer) -> None:
    configure(budget_requests=2)
    for _ in range(2):
        spent = "spent so far: 2 requests, 36 tokens"
        with pytest.raises(BudgetSpent, match=spent), journaled(FILE):
            for n in range(3):
                ask(n)
        spending._of_process = spending.UsageMeter()  # pyright: ignore[reportPrivateUsage]
    assert len(server.requests) == 2
    configure(budget_requests=3)
    with journaled(FILE):
        assert [ask(n) for n in range(3)] == ["ok"] * 3
    assert len(server.requests) == 3


def test_what_a_process_has_counted_it_does_not_count_again(server: FakeServer) -> None:
    configure(budget_requests=3)
    for _ in range(4):  # as a service that resumes a turn after each approval
        with configure(budget_requests=2), journaled(FILE):
            assert [ask(1), ask(2)] == ["ok", "ok"]
            with pytest.raises(BudgetSpent, match="spent so far: 2 requests"):
                ask(3)
    assert current_usage().requests == 2
    assert ask(4) == "ok"
    before = current_meter()
    spending._of_process = spending.UsageMeter()  # pyright: ignore[reportPrivateUsage]
    with journaled(FILE):  # by another process
        ask(5)
    spending._of_process = before  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(BudgetSpent, match="spent so far: 4 requests"), journaled(FILE):
        ask(6)


def test_a_budget_counts_what_is_kept_of_a_server_that_counts_no_tokens() -> None:
    configure(provider=Scripted(["word " * 400]), budget_tokens=10_000)
    taken: list[int] = []
    for _ in range(2):
        with journaled(FILE):
            ask(1)
        taken.append(current_usage().tokens)
        spending._of_process = spending.UsageMeter()  # pyright: ignore[reportPrivateUsage]
    assert taken[0] == taken[1] > 500


# What is in the file


def test_entries(server: FakeServer) -> None:
    with journaled(FILE):
        ask(1)
    head, exchange, end = entries()
    assert (head["version"], head["pid"]) == (4, os.getpid())
    assert exchange["used"] == ["fake", 11, 7]
    assert exchange["who"] == "openai fake"
    assert exchange["request"]["messages"] == [{"role": "user", "content": "1"}]
    assert exchange["reply"]["text"] == "ok"
    assert (end["ended"], end["kept"], end["new"]) == ("ok", 0, 1)
    assert stat.S_IMODE(os.stat(FILE).st_mode) == 0o600


def test_keys_are_kept_as_they_are_for_the_owner_alone(server: FakeServer) -> None:
    server.responder = lambda _: completion(f"your key is {KEY}")
    for _ in range(2):
        with journaled(FILE), journal_scope(KEY):
            assert ask(f"mine is {KEY}") == f"your key is {KEY}"
    assert len(server.requests) == 1
    assert stat.S_IMODE(os.stat(FILE).st_mode) == 0o600


def test_a_journal_can_be_replayed(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    numbered(server)
    with journaled(FILE):
        first = [ask(1), ask(2), ask(1)]
    monkeypatch.setenv("SAFT_REPLAY", FILE)
    before = Path(FILE).read_bytes()
    assert [ask(1), ask(2), ask(1)] == first
    assert len(server.requests) == 3
    assert Path(FILE).read_bytes() == before
    monkeypatch.setenv("SAFT_RECORD", FILE)
    with pytest.raises(ConfigError, match="is the journal of a run"):
        ask(1)


def test_calls_that_overlap_are_replayed_in_the_order_of_the_script(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = threading.local()
    answered = {(is_in_scope, n): threading.Event() for is_in_scope in (0, 1) for n in range(4)}
    answered[0, 3].set()
    answered[1, 3].set()

    class LastFirst:
        """Answers equal requests of a later call before those of an earlier one."""

        def complete(self, request: Request) -> Reply:
            asked = request.messages[-1]["content"]
            if asked.isdigit():
                here.number = int(asked)
                return Reply(asked)
            is_in_scope = "in a scope" in asked
            assert answered[is_in_scope, here.number + 1].wait(60)
            answered[is_in_scope, here.number].set()
            return Reply(str(here.number))

    def chain(n: int) -> str:
        given = ask(n) + ask("same")
        with journal_scope("part"):
            return given + ask("the same in a scope")

    configure(provider=LastFirst(), max_in_flight=3)
    with journaled(FILE):
        first = [*overlap(chain, range(3)), ask(0)]
    assert first == ["000", "111", "222", "0"]
    monkeypatch.setenv("SAFT_REPLAY", FILE)
    assert [*overlap(chain, range(3)), ask(0)] == first


# What is wrong with a file


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b'{"key": "a", "repeat": 0, "request": {}, "reply": {}}\n',
            "it is a recording; `--replay`",
        ),
        (b"Dear diary,\n", "is not a journal; name another file"),
        (b"Dear diary, without an end", "is not a journal; name another file"),
        (b'{"saft"}', "is not a journal; name another file"),
        (b"\x89PNG\r\n", "is not a journal"),
        (b"[1]\n", "is not a journal"),
    ],
)
def test_what_is_no_journal_of_this_script_stays_as_it_is(
    server: FakeServer, content: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "current_script", lambda: "triage")
    Path(FILE).write_bytes(content)
    with pytest.raises(ConfigError, match=said), journaled(FILE):
        ask(1)
    assert Path(FILE).read_bytes() == content
    assert server.requests == []


@pytest.mark.parametrize("path", ["folder", "a\0b", "/dev/full", "file/run.journal"])
def test_what_cannot_be_a_journal(server: FakeServer, path: str) -> None:
    Path("folder").mkdir()
    Path("file").touch()
    with pytest.raises(ConfigError, match="as a journal: "), journaled(path):
        ask(1)
    assert server.requests == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may do all")
def test_no_permission(server: FakeServer) -> None:
    Path(FILE).touch(0o400)
    with pytest.raises(ConfigError, match="Permission denied"), journaled(FILE):
        ask(1)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder of somebody who may not do all, whoever runs the tests."""
    found = Path(tempfile.mkdtemp())
    if os.geteuid() == 0:
        os.chown(found, NOBODY, NOBODY)
    yield found
    shutil.rmtree(found)


NOBODY = 65534


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_what_cannot_be_written_is_read_and_said(place: Path, tmp_path: Path) -> None:
    ended, killed, copy = (str(place / name) for name in ("ended", "killed", "copy"))
    Path(ended).mkdir()
    Path(copy).mkdir()

    def run(path: str, at_end: Callable[[], object] = lambda: None) -> Any:
        with configure(provider=Scripted(["yes"])), journaled(path):
            answer = prompt("Is it so?").value
            at_end()
            return answer

    def as_somebody() -> None:
        if os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        # In a folder that is read-only, a run that has ended, and one that was killed.
        run(f"{ended}/a", lambda: shutil.copytree(ended, killed))
        for name in ("a", "a-wal"):
            shutil.copy(f"{killed}/{name}", copy)
        for folder in (ended, copy):
            os.chmod(folder, 0o500)
        assert [one["reply"]["text"] for one in entries(f"{ended}/a") if "reply" in one] == ["yes"]
        for path in (f"{ended}/a", f"{ended}/new"):
            with pytest.raises(ConfigError, match="as a journal: Permission denied"):
                run(path)
        with pytest.raises(ConfigError, match=r"cannot read .*copy/a: unable to open"):
            entries(f"{copy}/a")
        # A file that is read-only.
        for folder in (ended, copy):
            os.chmod(folder, 0o700)
        os.chmod(f"{ended}/a", 0o400)
        with pytest.raises(ConfigError, match="as a journal: Permission denied"):
            run(f"{ended}/a")
        assert os.listdir(ended) == ["a"]

    if os.geteuid() == 0:
        for folder in (ended, copy):
            os.chown(folder, NOBODY, NOBODY)
    assert comes_to_its_end(as_somebody, tmp_path / "errors")


def test_folders_of_the_name_are_made(server: FakeServer) -> None:
    with journaled("runs/monday/a.journal"):
        ask(1)
    assert len(entries("runs/monday/a.journal")) == 3


def test_one_process_at_a_time(server: FakeServer) -> None:
    with journaled(FILE):
        ask(1)
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                f"import runtime_support.runs as r\nwith r.journaled({FILE!r}): pass",
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        said = f"JournalInUse: the journal run.journal is in use by process {os.getpid()};"
        assert said in done.stderr
        ask(2)
    assert [entry.get("ended") for entry in entries()] == [None, None, None, "ok"]


SERVICE = """\
import sys
from runtime_support import configure, prompt
from runtime_support.runs import journaled
from runtime_support.testing import Scripted

configure(provider=Scripted(sys.argv[1:]))
with journaled("run.journal"):
    print(prompt("greet").value)
"""


def test_a_block_belongs_to_no_program_and_is_silent(tmp_path: Path) -> None:
    """A worker resumes what a service began, and neither is told to run a command again."""
    answers: list[list[str]] = [["hello"], [], ["unused"]]
    for name, answer in zip(("service.py", "worker.py", "service.py"), answers, strict=True):
        Path(name).write_text(SERVICE)
        done = subprocess.run(
            [sys.executable, name, *answer],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert (done.stdout, done.stderr) == ("hello\n", "")


def test_in_an_event_loop_the_file_is_opened_in_a_thread(server: FakeServer) -> None:
    numbered(server)
    threads: list[threading.Thread] = []

    def made(path: str) -> journals.Journal:
        threads.append(threading.current_thread())
        return journals.Journal(path, is_of_block=True)

    async def main() -> list[str]:
        async with keeping.JournaledBlock(partial(made, FILE)):
            with pytest.raises(JournalInUse):
                async with journaled(FILE):
                    pass
            answers = [(await prompt.aio("a")).value, (await prompt.aio("b")).value]
        return [*answers, (await prompt.aio("a")).value]

    assert asyncio.run(main()) == ["1", "2", "3"]
    assert threads != [threading.main_thread()]

    async def failing() -> None:
        async with journaled(FILE):
            assert (await prompt.aio("b")).value == "2"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(failing())
    ended = [entry["ended"] for entry in entries() if "ended" in entry]
    assert (ended, os.listdir()) == (["ok", "failed"], [FILE])


@pytest.mark.parametrize("cancelled", ["opened", "closed"])
def test_a_task_that_is_cancelled_leaves_no_journal_open(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, cancelled: str
) -> None:
    may_go_on, reached = threading.Event(), threading.Event()

    def held(*given: Any) -> Any:
        reached.set()
        assert may_go_on.wait(60)
        return real(*given)

    where, name = (keeping, "_of_block") if cancelled == "opened" else (journals.Journal, "close")
    real = getattr(where, name)
    monkeypatch.setattr(where, name, held)

    async def main() -> None:
        async def work() -> None:
            async with journaled(FILE):
                pass

        task = asyncio.create_task(work())
        async with asyncio.timeout(60):
            while not reached.is_set():
                await asyncio.sleep(0.001)
            for _ in range(2):  # again while it waits for the thread
                task.cancel()
                await asyncio.sleep(0.001)
            may_go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert os.listdir() == [FILE]
    with journaled(FILE):
        assert ask(1) == "ok"


def test_a_disk_that_is_full(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    numbered(server)
    said = "database or disk is full; the kept answers are intact"
    with monkeypatch.context() as full:
        limit_pages(full, 16)
        with pytest.raises(JournalError, match=said), journaled(FILE):
            for n in range(60):
                with suppress(JournalError):  # as a script does that goes on after failures
                    ask(n)
            ask(60)
    kept = len(server.requests) - 1  # the last one was not kept, and none was sent behind it
    assert 3 < kept < 50
    assert len(entries()) == 1 + kept
    with journaled(FILE):
        answers = [ask(n) for n in range(kept + 1)]
    assert answers == [*(str(n + 1) for n in range(kept)), str(kept + 2)]


@pytest.mark.parametrize("statement", ["pragma synchronous = full", "begin", "insert", "commit"])
def test_ctrl_c_in_a_commit_loses_no_row_of_another_thread(
    monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    at = PromptKey("", "a", "0")
    connect, wanted = sqlite3.connect, [statement]

    class Interrupted(sqlite3.Connection):
        def execute(self, query: str, *values: Any) -> sqlite3.Cursor:
            return self.then(query, super().execute(query, *values))

        def executemany(self, query: str, rows: Any, /) -> sqlite3.Cursor:
            return self.then(query, super().executemany(query, rows))

        def then(self, query: str, cursor: sqlite3.Cursor) -> sqlite3.Cursor:
            if own and wanted and query.startswith(wanted[0]):
                wanted.clear()
                raise KeyboardInterrupt
            return cursor

    own: list[str] = []
    monkeypatch.setattr(sqlite3, "connect", partial(connect, factory=Interrupted))
    journal = Journal(FILE)
    # What another thread does before it waits for the lock.
    row = journals._row_of(("", "b", "0", "t1", "call"), {})  # pyright: ignore[reportPrivateUsage]
    journal.write_soon(journals._INSERT, *row)  # pyright: ignore[reportPrivateUsage]
    own.append("commit")
    with pytest.raises(KeyboardInterrupt):
        journal.put(at, RowKind.CALL, "t1", {})
    journal.flush()
    journal.close("interrupted")
    assert sorted(one["at"][1] for one in entries() if "at" in one) == ["a", "b"]


def test_the_last_start_is_that_of_the_last_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The clock may have been set back meanwhile."""
    for start in (2e9, 1e9, 1e9):
        monkeypatch.setattr(journals.time, "time", lambda start=start: start)
        journal = Journal(FILE)
        journal.put(PromptKey("", "a", "0"), RowKind.EXCHANGE, 0, {"used": ["m"], "reply": {}})
        journal.close("ok")
    said = capsys.readouterr().err
    assert re.findall(r"last started (\d+)", said) == ["2033", "2001"]


def test_who_asks_whether_a_journal_is_in_use_does_not_hinder_a_run(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(f"{FILE}-lock").touch()  # as a killed run leaves it
    with ExitStack() as asking:
        other = asking.enter_context(open(f"{FILE}-lock", "rb"))
        assert lines.lock(other.fileno(), waits=False)

        def sleep(_: float) -> None:
            asking.close()

        monkeypatch.setattr(journals.time, "sleep", sleep)
        with journaled(FILE):
            assert ask(1) == "ok"
    assert not is_in_use(FILE)


def test_a_decision_about_a_call_reads_only_what_is_kept_of_this_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A running run cannot write meanwhile."""
    question = {"asks": "pay", "kind": "call", "digest": "", "sent": "{}", "shown": "pay()"}
    journal = Journal(FILE)
    for n in range(3):
        asked = PromptKey(f"row/{n}", "a", "0")
        journal.put(asked, RowKind.EXCHANGE, 0, {"used": ["m", 1, 1], "reply": {}})
        journal.put(asked, RowKind.APPROVAL, "t1", {**question, "time": 1.0, "schema": {}})
    calls = waiting_calls(FILE)
    assert [call.scope for call in calls] == ["row/0", "row/1", "row/2"]
    read: list[object] = []
    checked = journals._sum  # pyright: ignore[reportPrivateUsage]

    def sum_of(row: Any) -> int:
        read.append(row)
        return checked(row)

    monkeypatch.setattr(journals, "_sum", sum_of)
    decide(calls[1], True)
    assert len(read) == 2, "the question and the decision"
    other: dict[str, Any] = {**question, "digest": "other", "time": 2.0, "schema": {}}
    journal.put(PromptKey("row/2", "a", "0"), RowKind.APPROVAL, "t1", other)
    with pytest.raises(ConfigError, match="no longer waits"):
        decide(calls[2], True)
    assert [call.scope for call in waiting_calls(FILE)] == ["row/0", "row/2"]
    with pytest.raises(ConfigError, match="no longer waits"):
        decide(calls[1], True)
    journal.close("waiting")


def test_a_journal_is_not_recorded_too(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFT_JOURNAL", FILE)
    monkeypatch.setenv("SAFT_RECORD", "recording.jsonl")
    with pytest.raises(ConfigError, match="cannot be recorded or replayed"):
        ask(1)
    assert server.requests == []


class Msvcrt:
    """What locks files on Windows: a byte of a file for one of those who have it open."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.holders: dict[tuple[int, int], int] = {}

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        assert (mode, count) == (self.LK_NBLCK, 1)
        file = os.fstat(descriptor)
        assert os.lseek(descriptor, 0, os.SEEK_CUR) > file.st_size, "who reads it is locked out"
        holder = self.holders.get((file.st_dev, file.st_ino), descriptor)
        if holder != descriptor and self.is_at(holder, file):
            raise PermissionError(13, "Permission denied")
        self.holders[file.st_dev, file.st_ino] = descriptor

    def is_at(self, descriptor: int, file: os.stat_result) -> bool:
        """Whether this is a descriptor of the file: with it, a lock goes away."""
        try:
            return os.path.samestat(os.fstat(descriptor), file)
        except OSError:
            return False


def test_locks_of_windows(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "lock", partial(lines.lock_by_msvcrt, Msvcrt()))
    said = "in use by another run of this process"
    for _ in range(2):
        with journaled(FILE):
            ask(1)
            with pytest.raises(ConfigError, match=said), journaled(FILE):
                ask(2)
            ask(1)
    assert len(server.requests) == 2


def test_who_waits_for_a_lock_of_windows_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "lock", partial(lines.lock_by_msvcrt, Msvcrt()))
    path = str(tmp_path / "file")
    first = lines.LockedFile(path, 0o600, waits=True)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            first.close()

    monkeypatch.setattr(lines.time, "sleep", pause)
    with lines.LockedFile(path, 0o600, waits=True) as second:
        second.add(b"1\n")
    assert len(pauses) == 3
    assert Path(path).read_bytes() == b"1\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_does_not_hold_the_journal_of_its_parent(server: FakeServer) -> None:
    goes_on, told = os.pipe()
    with journaled(FILE):
        ask(1)
        child = os.fork()
        if child == 0:
            os.close(told)
            os.read(goes_on, 1)  # until the parent has told
            os._exit(0)
    try:
        with journaled(FILE):
            ask(1)
    finally:
        os.close(told)
        assert os.waitpid(child, 0)[1] == 0
    assert len(server.requests) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_may_leave_the_block(server: FakeServer) -> None:
    child, left = -1, False
    try:
        with journaled(FILE):
            ask(1)
            child = os.fork()
        left = True
    finally:
        if child == 0:
            os._exit(0 if left else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert [entry["ended"] for entry in entries() if "ended" in entry] == ["ok"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_leaves_the_journal_to_its_parent(server: FakeServer) -> None:
    with journaled(FILE):
        ask(1)
        child = os.fork()
        if child == 0:
            os._exit(0 if ask(2) == "ok" else 1)
        assert os.waitpid(child, 0)[1] == 0
        ask(3)
    assert [entry["request"]["messages"][0]["content"] for entry in entries()[1:-1]] == ["1", "3"]


def test_a_text_that_was_cut_is_asked_again(server: FakeServer) -> None:
    server.answers = [completion("once upon", finish="length"), completion("Once. The end.")]
    with journaled(FILE), pytest.raises(TruncatedReply):
        prompt("a story")
    with journaled(FILE):
        assert prompt("a story").value == "Once. The end."


def test_a_cut_text_that_is_taken_is_kept(server: FakeServer) -> None:
    server.answers = [completion("once upon", finish="length")]
    for _ in range(2):
        with journaled(FILE):
            story = prompt("a story", options={"on_truncated": "accept"})
            assert (story.value, story.finish) == ("once upon", "length")
    assert len(server.requests) == 1


# What holds a key

ISSUED = "sk-abcdefghijklmnopqrstuvwx"


def test_a_call_with_a_key_is_made_once(scripted: Script) -> None:
    used: list[str] = []

    def renew(key: str) -> str:
        used.append(key)
        return f"{key}yz"

    scripted(tool_request("renew", key=ISSUED), "done")
    for _ in range(2):
        with journaled(FILE):
            (call,) = prompt("{renew}", renew=renew).tool_calls
        assert (call.args, call.result) == ({"key": ISSUED}, f"{ISSUED}yz")
    assert used == [ISSUED]


def test_a_call_in_doubt_that_was_given_a_key_can_stop_the_run(
    scripted: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def use(key: str) -> str:
        raise Killed

    request = tool_request("use", key=ISSUED)
    scripted(request, request)
    monkeypatch.setenv("SAFT_ON_INTERRUPTED_CALL", "stop")
    with pytest.raises(Killed), journaled(FILE):
        prompt("{use}", use=use)
    with pytest.raises(JournalError, match=r"use \{.*\[redacted\].*\} started"), journaled(FILE):
        prompt("{use}", use=use)


def test_words_that_begin_like_keys_are_kept(
    scripted: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def publish() -> str:
        made.append(1)
        return "https://example.org/blog/risk-assessment-framework"

    monkeypatch.setenv("SORT_KEY", "created_at")
    model = scripted(tool_request("publish"), "task-management-system-overview by created_at")
    for _ in range(3):
        with journaled(FILE):
            prompt("{publish}", publish=publish)
    assert (len(made), len(model.requests)) == (1, 2)


# Sums


DEEP = b"[" * 100_000 + b"\n"


# The end of a run


def test_nothing_is_kept_of_a_run_that_is_over(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFT_JOURNAL", FILE)
    ask(1)
    keeping.close_journals("ok")
    before = Path(FILE).read_bytes()
    with pytest.raises(JournalError, match="keeps nothing more"):
        ask(2)
    keeping.close_journals("ok")
    assert Path(FILE).read_bytes() == before
    assert len(server.requests) == 1


def test_a_run_that_was_not_kept_has_not_ended_well(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFT_JOURNAL", FILE)
    fail_rows(monkeypatch, lambda step: step == "0")
    with pytest.raises(JournalError):
        ask(2)
    with pytest.raises(JournalError, match="disk is full"):
        keeping.close_journals("ok")
    assert "ended" not in {entry.get("process") for entry in entries()}


def test_a_run_that_resumes_sees_the_time_that_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SAFT_NOW", raising=False)

    def run() -> list[object]:
        return [ops.now(), ops.today(), ops.now(), ops.now()]

    with journaled(FILE):
        first = run()
        ahead = ops.now()
    assert len({*map(str, first)}) == 4
    with journaled(FILE):
        assert run() == first
        assert ops.now() == ahead
        assert ops.now() > ahead
    with journaled(FILE):
        monkeypatch.setenv("SAFT_NOW", "2026-01-31T09:30:00+01:00")
        assert str(ops.now()) == "2026-01-31 09:30:00+01:00"


def _made(server: FakeServer, at_end: Callable[[], object] = lambda: None) -> list[str]:
    """A run with a tool: what was called, and what was answered."""
    server.responder = lambda request: (
        completion("done")
        if any(one["role"] == "tool" for one in request["messages"])
        else calling(("pay", {"n": 1}))
        if "pay" in request["messages"][0]["content"]
        else completion("other")
    )
    called: list[str] = []

    def pay(n: int) -> str:
        called.append(f"pay {n}")
        return "paid"

    with journaled(FILE):
        answers = [prompt("{pay}", pay=pay).value, ask(2)]
        at_end()
    return [*called, *answers]


def _files(server: FakeServer, how: str) -> dict[str, bytes]:
    """The files of a run that has ended, or that was killed when all was answered."""
    found: dict[str, bytes] = {}

    def read() -> None:
        found.update({name: Path(name).read_bytes() for name in os.listdir()})

    assert _made(server, read) == ["pay 1", "done", "other"]
    if how == "ended":
        found.clear()
        read()
    found.pop(f"{FILE}-shm", None)  # SQLite makes it anew
    journals.remove(FILE)
    return found


def _flip(
    server: FakeServer, files: dict[str, bytes], name: str, bit: int, told: Callable[[], str]
) -> str:
    """Resumes a run one bit of whose files is another one: "refused", "asked again" or "same"."""
    for one, content in files.items():
        Path(one).write_bytes(content)
    changed = bytearray(files[name])
    changed[bit // 8] ^= 1 << bit % 8
    Path(name).write_bytes(changed)
    told()
    asked = len(server.requests)
    try:
        found = _made(server)
    except (ConfigError, JournalError) as error:
        assert FILE in str(error)
        result = "refused"
    else:
        # Nothing is called again, and nothing else comes of it.
        assert found == ["done", "other"], (name, bit)
        result = "same" if len(server.requests) == asked else "asked again"
        # What is lost is said.
        said = told()
        assert ("damaged" in said) == (result == "asked again"), (name, bit, said)
    journals.remove(FILE)
    return result


@pytest.mark.parametrize("how", ["ended", "killed"])
@pytest.mark.parametrize("part", range(8))
def test_each_flipped_bit_is_found_or_does_no_harm(
    server: FakeServer, how: str, part: int, capsys: pytest.CaptureFixture[str]
) -> None:
    files = _files(server, how)
    # Every byte that says something, and some of the empty pages.
    places = [
        (name, at)
        for name, content in files.items()
        for at, byte in enumerate(content)
        if byte or at % 97 == 0
    ]
    for name, at in places[part * 9 :: 8 * 9]:
        _flip(server, files, name, at * 8 + at % 8, lambda: capsys.readouterr().err)


@pytest.mark.slow
def test_so_many_flipped_bits(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    """JOURNAL_FLIPS=100 pytest -s -m slow tests/runtime/test_journal.py     so many, at random"""
    chance, results = random.Random(19), Counter[str]()
    for how in ("ended", "killed"):
        files = _files(server, how)
        sizes = [len(content) for content in files.values()]
        for _ in range(int(os.environ.get("JOURNAL_FLIPS", "100"))):
            (name,) = chance.choices(list(files), sizes)
            bit = chance.randrange(len(files[name]) * 8)
            result = _flip(server, files, name, bit, lambda: capsys.readouterr().err)
            results[f"{how}: {name}: {result}"] += 1
    with capsys.disabled():
        print(dict(results))


@pytest.mark.parametrize("how", ["gone", "cut"])
def test_a_log_that_is_lost_after_a_kill_is_told(server: FakeServer, how: str) -> None:
    for name, content in _files(server, "killed").items():
        Path(name).write_bytes(content)
    log, asked = Path(f"{FILE}-wal"), len(server.requests)
    if how == "gone":
        log.unlink()
    else:
        os.truncate(log, log.stat().st_size * 2 // 3)
    for read in (lambda: _made(server), entries):
        with pytest.raises((ConfigError, JournalError), match=r"damaged|empty"):
            read()
    assert len(server.requests) == asked


@pytest.mark.parametrize("size", [1, 20, 99, 600, 4096, 5000, -4096, -1])
def test_a_file_that_was_cut_is_told(server: FakeServer, size: int) -> None:
    _made(server)
    with open(FILE, "rb+") as file:
        file.truncate(size if size > 0 else os.path.getsize(FILE) + size)
    content, asked = Path(FILE).read_bytes(), len(server.requests)
    with pytest.raises((ConfigError, JournalError), match=r"damaged|not a journal"):
        _made(server)
    assert Path(FILE).read_bytes() == content
    assert len(server.requests) == asked


def test_what_is_beside_a_journal_is_private_and_goes_with_the_run(server: FakeServer) -> None:
    with journaled(FILE):
        ask(1)
        beside = sorted(os.listdir())
        assert beside == [FILE, *(f"{FILE}-{end}" for end in ("lock", "shm", "wal"))]
        modes = {stat.S_IMODE(os.stat(one).st_mode) for one in beside}
        assert modes == ({0o600} if os.name == "posix" else modes)
        # It is read while the run goes on.
        assert [one["used"][0] for one in entries() if "used" in one] == ["fake"]
    assert os.listdir() == [FILE]
    assert len(entries()) == 3
    assert os.listdir() == [FILE]  # also where nothing can be made


def test_a_link_to_a_journal_is_that_journal(server: FakeServer) -> None:
    Path("there").mkdir()
    with journaled("there/run.journal"):
        ask(1)
        Path("link").symlink_to("there/run.journal")
        with pytest.raises(JournalInUse, match="another run of this process"), journaled("link"):
            ask(1)
    with journaled("link"):
        ask(1)
    assert len(server.requests) == 1


def test_a_journal_in_lines_of_text_stays_as_it_is(server: FakeServer) -> None:
    text = '{"saft": "journal", "version": 1, "saftc": "0.1.0", "script": "", "time": 1.0}\n'
    Path(FILE).write_text(text)
    said = "is a journal of an earlier saftc, in lines of text; resume it with"
    with pytest.raises(ConfigError, match=said), journaled(FILE):
        ask(1)
    assert (Path(FILE).read_text(), os.listdir(), server.requests) == (text, [FILE], [])


@pytest.mark.parametrize("version", [3, 5])
def test_a_journal_of_another_version_stays_as_it_is(server: FakeServer, version: int) -> None:
    _made(server)
    with closing(sqlite3.connect(FILE)) as database:
        database.execute("drop index entry_place")
        database.execute("alter table entry rename column kind to sort")
        database.execute(f"pragma user_version = {version}")
    content, asked = Path(FILE).read_bytes(), len(server.requests)
    said = f"is a journal of version {version}; this one writes version 4; resume it with the saftc"
    with pytest.raises(ConfigError, match=said), journaled(FILE):
        ask(1)
    with pytest.raises(ConfigError, match=said):
        entries()
    found = (Path(FILE).read_bytes(), os.listdir(), len(server.requests))
    assert found == (content, [FILE], asked)
