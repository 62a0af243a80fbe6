"""Calls that overlap do what they would do one after the other, sooner."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from runtime_support import (
    ProviderError,
    RateLimited,
    Reply,
    Request,
    add_observer,
    configure,
    later,
    ops,
    overlap,
    prompt,
    together,
)
from runtime_support._core.tasks import queue as tasks
from runtime_support._core.tasks import workers
from runtime_support._overlap import print
from runtime_support.ops import list_files, read_text, write_text
from runtime_support.testing import Scripted, tool_request
from tests.compiler.support import ROOT
from tests.support.fake_server import Answer, FakeServer, completion, status


class Model:
    """Answers each text after its seconds, or fails; notes who was asked and how many at once."""

    def __init__(self, seconds: Callable[[str], float] = lambda _: 0.01) -> None:
        self.seconds: Callable[[str], float] = seconds
        self.asked: list[str] = []
        self.in_flight = 0
        self.most = 0
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        text = request.messages[-1]["content"]
        with self._lock:
            self.asked.append(text)
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
        try:
            time.sleep(self.seconds(text))
            return self.answer(request)
        finally:
            with self._lock:
                self.in_flight -= 1

    def answer(self, request: Request) -> Reply:
        text: str = request.messages[-1]["content"]
        if "FAIL" in text:
            raise ProviderError(f"no answer to {text}")
        return Reply(text.upper(), model="test")


@pytest.fixture
def model() -> Model:
    made = Model()
    configure(provider=made, max_in_flight=4)
    return made


def until(holds: Callable[[], object]) -> None:
    while not holds():
        time.sleep(0.01)


def nothing_runs() -> bool:
    """Whether all calls that were begun have ended."""
    with workers.shared.lock:
        return not workers.shared.threads.running


@pytest.fixture
def is_failed(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when a call has failed, and those behind it may know."""
    event, end = threading.Event(), tasks.Task.end

    def end_and_tell(task: tasks.Task, value: Any, error: BaseException | None) -> None:
        end(task, value, error)
        if error is not None:
            event.set()

    monkeypatch.setattr(tasks.Task, "end", end_and_tell)
    return event


def ask(text: object) -> str:
    return prompt("{text:raw}", text=str(text)).value


# Order


def test_values_come_in_order_whatever_takes_longest(model: Model) -> None:
    first_four = threading.Barrier(4)

    def seconds(text: str) -> float:
        if int(text) < 4:
            first_four.wait(60)
        return 0.05 - int(text) / 500

    model.seconds = seconds
    assert list(overlap(ask, range(20))) == [str(n) for n in range(20)]
    assert model.most == 4


def test_output_is_in_order(model: Model, capsys: pytest.CaptureFixture[str]) -> None:
    model.seconds = lambda text: 0.03 if text == "0" else 0.001

    def show(n: int) -> str:
        print("begin", n, sep="-")
        answer = ask(n)
        ops.print("end", n)
        return answer

    for answer in overlap(show, range(6)):
        print("took", answer)
    expected = "".join(f"begin-{n}\nend {n}\ntook {n}\n" for n in range(6))
    assert capsys.readouterr().out == expected


def test_together_gives_values_in_order(model: Model) -> None:
    first_four = threading.Barrier(4)

    def seconds(text: str) -> float:
        if text != "five":
            first_four.wait(60)
        return 0

    def grade(text: str, most: int = 10) -> tuple[str, int]:
        return ask(text), most

    model.seconds = seconds
    one, two, three, four, five, six = together(
        later(prompt, "one"),
        later(grade, "two", most=3),
        later(prompt, "three"),
        later(prompt, "four"),
        later(prompt, "five"),
        later(len, "four"),
    )
    assert (one, two, three) == ("ONE", ("TWO", 3), "THREE")
    assert (four, five, six) == ("FOUR", "FIVE", 4)
    assert model.most == 4


def test_run_goes_through_to_the_end(model: Model) -> None:
    overlap(ask, "abc").run()
    assert sorted(model.asked) == ["a", "b", "c"]


def test_files_are_written_in_order(model: Model) -> None:
    model.seconds = lambda text: 0.03 if text == "0" else 0.001
    written: list[str] = []

    def write(n: int) -> None:
        write_text(f"{n}.txt", ask(n))
        written.append(str(n))

    overlap(write, range(6)).run()
    assert written == list("012345")
    assert read_text("5.txt") == "5"


# Errors


def test_the_first_error_in_the_order_of_the_items_is_raised(model: Model) -> None:
    model.seconds = lambda text: 0.05 if "FAIL 2" in text else 0.001
    taken: list[str] = []
    with pytest.raises(ProviderError, match="no answer to FAIL 2"):
        for answer in overlap(ask, ["0", "1", "FAIL 2", "FAIL 3", "4"]):
            taken.append(answer)
    assert taken == ["0", "1"]


def test_after_a_failure_nothing_behind_it_is_begun(
    model: Model, is_failed: threading.Event
) -> None:
    first_four = threading.Barrier(4)
    late: list[str] = []

    def seconds(text: str) -> float:
        if is_failed.is_set():
            late.append(text)
        elif text in ("0", "FAIL", "2", "3"):
            first_four.wait(60)
            assert text == "FAIL" or is_failed.wait(60)
        else:  # asked when the slot was free, and before the call knew that it has failed
            assert is_failed.wait(60)
        return 0

    def twice(n: object) -> None:
        ask(n)
        ask(f"{n} again")

    model.seconds = seconds
    with pytest.raises(ProviderError):
        overlap(twice, [0, "FAIL", *range(2, 30)]).run()
    until(nothing_runs)
    # What stands before it goes on; of what was in flight, no second request was made.
    assert late == ["0 again"]


def test_while_another_thread_imports_asyncio(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As it stands in `sys.modules` from the first line of its import on.
    monkeypatch.setitem(sys.modules, "asyncio", ModuleType("asyncio"))
    assert together(later(ask, "one"), later(ask, "two")) == ("ONE", "TWO")
    assert list(overlap(ask, ["three", "four"])) == ["THREE", "FOUR"]


def test_in_together_nothing_is_begun_after_a_failure(
    model: Model, is_failed: threading.Event
) -> None:
    both = threading.Barrier(2)
    late: list[str] = []

    def seconds(text: str) -> float:
        if is_failed.is_set():
            late.append(text)
        elif text in ("first", "FAIL"):
            both.wait(60)
        assert text == "FAIL" or is_failed.wait(60)
        return 0

    model.seconds = seconds
    configure(max_in_flight=2)
    with pytest.raises(ProviderError):
        together(later(ask, "first"), later(ask, "FAIL"), *(later(ask, n) for n in range(20)))
    until(nothing_runs)
    assert late == []
    # One more may take the slot of the request that failed before its call has.
    assert {"FAIL", "first"} <= set(model.asked) <= {"FAIL", "first", "0"}


def test_a_traceback_reads_as_without_overlap(model: Model) -> None:
    def broken(text: str) -> str:
        raise ValueError(text)

    def frames(most: int) -> list[str]:
        configure(max_in_flight=most)
        with pytest.raises(ValueError, match="b") as caught:
            for _ in overlap(broken, "b"):
                pass
        assert caught.value.__traceback__ is not None
        own = traceback.extract_tb(caught.value.__traceback__)
        return [f"{f.name}: {f.line}" for f in own if "runtime_support" not in f.filename]

    assert frames(4) == frames(1)
    assert frames(4)[-1] == "broken: raise ValueError(text)"


@pytest.mark.parametrize("most", [1, 4])
def test_the_place_of_a_prompt_is_its_line(model: Model, most: int) -> None:
    configure(max_in_flight=most)
    seen: list[str] = []
    remove = add_observer(lambda event: seen.append(event["place"]))
    first = sys._getframe().f_lineno  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(ProviderError) as caught:
        together(
            later(prompt, "one"),
            later(prompt, "FAIL"),
            later(prompt, "three"),
        )
    remove()
    frames = traceback.extract_tb(caught.tb)
    lines = [f.lineno for f in frames if f.name.startswith("test_")]
    assert lines[-1] == first + 4
    assert seen == [f"test_overlap.py:{first + n}" for n in (3, 3, 4, 4)]


def test_an_error_of_the_items_comes_at_its_turn(model: Model) -> None:
    def items() -> Iterator[str]:
        yield "a"
        yield "b"
        raise ValueError("no c")

    taken: list[str] = []
    with pytest.raises(ValueError, match="no c"):
        for answer in overlap(ask, items()):
            taken.append(answer)
    assert taken == ["A", "B"]


def test_a_stopiteration_does_not_end_the_loop(model: Model) -> None:
    def stop(_: int) -> str:
        raise StopIteration

    for most in (1, 4):
        configure(max_in_flight=most)
        with pytest.raises(RuntimeError, match="StopIteration"):
            list(overlap(stop, [1, 2]))


def test_a_failure_that_is_caught_inside_is_none(model: Model) -> None:
    def either(n: int) -> str:
        try:
            return ask(f"FAIL {n}")
        except ProviderError:
            return ask(n)

    assert list(overlap(either, range(10))) == [str(n) for n in range(10)]


def test_a_loop_that_is_left_early_asks_no_more(model: Model) -> None:
    for _ in overlap(ask, range(1000)):
        break
    until(nothing_runs)
    assert len(model.asked) <= 2 * 4


# Bounds


def test_items_are_read_a_little_ahead(model: Model) -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for n in range(100_000):
            read.append(n)
            yield n

    for number, _ in enumerate(overlap(ask, items())):
        assert len(read) <= number + 1 + 2 * 4
        time.sleep(0.002)
        if number == 50:
            break


@pytest.mark.parametrize("most", [2, 3, 16])
def test_recursion_of_any_depth_ends(model: Model, most: int) -> None:
    configure(max_in_flight=most)
    model.seconds = lambda _: 0.0

    def descend(depth: int) -> int:
        ask(depth)
        below = list(overlap(descend, [depth - 1] * (2 if depth % 10 == 0 else 1) * (depth > 0)))
        return 1 + sum(below)

    assert descend(50) == 1 + 10 * (2 + 4 + 8 + 16 + 32)
    assert model.most <= most


@pytest.mark.heavy
def test_a_thousand_items_each_with_an_overlap_inside(model: Model) -> None:
    configure(max_in_flight=8)
    model.seconds = lambda _: 0.001

    def item(n: int) -> list[str]:
        return list(overlap(ask, (f"{n}.{m}" for m in range(3))))

    others = threading.active_count()
    for n, answers in enumerate(overlap(item, range(1000))):
        assert answers == [f"{n}.{m}" for m in range(3)]
        assert threading.active_count() <= others + 5 * 8
    assert model.most <= 8


def test_nested_overlaps_use_all_slots(model: Model) -> None:
    all_four = threading.Barrier(4)  # nobody is answered before four are asked

    def seconds(_: str) -> float:
        all_four.wait(timeout=60)
        return 0

    def outer(n: int) -> list[str]:
        return list(overlap(ask, [f"{n}.{m}" for m in range(8)]))

    model.seconds = seconds
    assert sum(len(answers) for answers in overlap(outer, range(8))) == 64
    assert model.most == 4


def test_a_tool_that_prompts(model: Model) -> None:
    class Calling(Model):
        def answer(self, request: Request) -> Reply:
            if request.tools and len(request.messages) == 1:
                return Reply("", tool_calls=(tool_request("look_up", city="Oslo"),))
            return super().answer(request)

    calling = Calling()
    configure(provider=calling, max_in_flight=2)

    def look_up(city: str) -> str:
        """Weather."""
        return " ".join(overlap(ask, [city, "and", "more"]))

    def weather(n: int) -> str:
        return prompt(f"{n}: {{look_up}}", look_up=look_up).tool_calls[0].result or ""

    assert list(overlap(weather, range(20))) == ["OSLO AND MORE"] * 20
    assert calling.most <= 2


def test_what_a_tool_does_is_in_order(model: Model, capsys: pytest.CaptureFixture[str]) -> None:
    class Calling(Model):
        def answer(self, request: Request) -> Reply:
            if len(request.messages) == 1:
                said: str = request.messages[0]["content"]
                return Reply("", tool_calls=(tool_request("note", text=said[0]),))
            return Reply("done")

    configure(provider=Calling(lambda text: 0.03 if text.startswith("0") else 0.001))

    def note(text: str) -> None:
        """Notes."""
        print("noted", text)
        so_far = "".join(read_text(path) for path in list_files("notes.txt"))
        write_text("notes.txt", so_far + text)

    def keep(n: int) -> str:
        return prompt(f"{n} {{note}}", note=note).value

    assert list(overlap(keep, range(6))) == ["done"] * 6
    assert capsys.readouterr().out == "".join(f"noted {n}\n" for n in range(6))
    assert read_text("notes.txt") == "012345"


# Files read ahead


def test_what_was_read_ahead_and_then_written_is_read_again(model: Model) -> None:
    write_text("state.txt", "0")

    def step(n: int) -> str:
        before = read_text("state.txt")
        answer = ask(f"{before}+{n}")
        write_text("state.txt", f"{before},{n}")
        return answer

    answers = list(overlap(step, range(5)))
    assert answers == ["0+0", "0,0+1", "0,0,1+2", "0,0,1,2+3", "0,0,1,2,3+4"]


def test_names_of_files_that_were_listed_ahead_are_listed_again(model: Model) -> None:
    Path("out").mkdir()
    Path("in").mkdir()
    write_text("in/a.txt", "a")

    def step(n: int) -> tuple[int, int]:
        seen = len(list_files("out/*.txt")), len(list_files("in/*.txt"))
        ask(n)
        return seen

    counts: list[tuple[int, int]] = []
    for seen in overlap(step, range(5)):
        counts.append(seen)
        write_text(f"out/{len(counts)}.txt", "x")
    assert counts == [(n, 1) for n in range(5)]


def test_other_files_change_nothing(model: Model) -> None:
    Path("in").mkdir()
    for n in range(8):
        write_text(f"in/{n}.txt", f"text {n}")

    def step(path: str) -> str:
        return ask(read_text(path) + f" of {len(list_files('in/*'))}")

    for n, answer in enumerate(overlap(step, list_files("in/*.txt"))):
        write_text(f"out{n}.txt", answer)
    assert len(model.asked) == 8


# Where it is one after the other


def _threads_of(
    function: Callable[[Callable[[object], int]], object], meeting: int = 1
) -> set[int]:
    """The threads of calls that end when so many are under way."""
    threads: set[int] = set()
    all_there = threading.Barrier(meeting)

    def note(_: object) -> int:
        threads.add(threading.get_ident())
        all_there.wait(60)
        return 1

    function(note)
    return threads


def test_one_at_once_is_the_thread_of_the_caller(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(max_in_flight=None)
    monkeypatch.setenv("SAFT_MAX_IN_FLIGHT", "1")
    assert _threads_of(lambda f: list(overlap(f, range(8)))) == {threading.get_ident()}
    assert _threads_of(lambda f: together(later(f, 1), later(f, 2))) == {threading.get_ident()}
    monkeypatch.setenv("SAFT_MAX_IN_FLIGHT", "3")
    assert len(_threads_of(lambda f: list(overlap(f, range(8))), meeting=2)) > 1


def _look_away(*_: object) -> None:
    pass


def test_a_debugger_sees_one_thread(model: Model) -> None:
    own = sys.gettrace()
    sys.settrace(_look_away)
    try:
        threads = _threads_of(lambda f: list(overlap(f, range(8))))
    finally:
        sys.settrace(own)
    assert threads == {threading.get_ident()}


def test_an_event_loop_is_not_left(model: Model) -> None:
    import asyncio

    async def main() -> set[int]:
        return _threads_of(lambda f: list(overlap(f, range(8))))

    assert asyncio.run(main()) == {threading.get_ident()}


def test_scripted_replies_are_asked_for_in_order(model: Model) -> None:
    queued = Scripted([str(n) for n in range(60)])

    def chain(n: int) -> str:
        return ask(f"{n} a") + ask(f"{n} b")

    configure(provider=queued)
    expected = [f"{2 * n}{2 * n + 1}" for n in range(10)]
    assert list(overlap(chain, range(10))) == expected

    # Also where one prompt alone is answered by such a provider.
    configure(provider=model)
    second = Scripted([str(n) for n in range(10)])

    def mixed(n: int) -> str:
        ask(n)
        return prompt("{n}", n=n, options={"provider": second}).value

    assert list(overlap(mixed, range(10))) == [str(n) for n in range(10)]


def test_contexts_are_those_of_the_call(model: Model) -> None:
    other = Model()
    with configure(provider=other):
        assert list(overlap(ask, "abc")) == ["A", "B", "C"]
    assert (len(other.asked), len(model.asked)) == (3, 0)


# Recordings and traces


def test_a_recording_is_numbered_in_the_order_of_the_script(
    model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from runtime_support import _recordings as replay

    class Counting(Model):
        def answer(self, request: Request) -> Reply:
            return Reply(f"{request.messages[-1]['content']} {next(numbers)}")

    numbers = itertools.count()

    configure(provider=Counting(lambda text: 0.04 if text == "0" else 0.002))
    path = tmp_path / "recording.jsonl"
    monkeypatch.setenv("SAFT_RECORD", str(path))

    def chain(n: int) -> str:
        ask(n)
        return ask("same")

    recorded = list(overlap(chain, range(6)))
    assert len(set(recorded)) == 6
    replay.close(str(path))
    monkeypatch.delenv("SAFT_RECORD")
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    assert list(overlap(chain, range(6))) == recorded
    assert replay.close(str(path)) == []
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    repeats = [e["repeat"] for e in entries if e["request"]["messages"][0]["content"] == "same"]
    assert repeats == list(range(6))


def test_observers_are_told_in_the_order_of_the_script(model: Model) -> None:
    model.seconds = lambda text: 0.03 if text == "0" else 0.001
    told: list[tuple[int, str, str]] = []

    def observe(event: dict[str, Any]) -> None:
        said = event["messages"][0]["content"] if event["event"] == "request" else event["text"]
        told.append((event["prompt"], event["event"], said))

    remove = add_observer(observe)
    list(overlap(ask, range(6)))
    remove()
    first = told[0][0]
    expected = [(first + n, kind, str(n)) for n in range(6) for kind in ("request", "reply")]
    assert told == expected


# Servers


def test_a_server_that_takes_few_at_once(server: FakeServer) -> None:
    lock = threading.Lock()
    now = [0]

    def respond(body: dict[str, Any]) -> Answer:
        with lock:
            now[0] += 1
            count = now[0]
        time.sleep(0.02)
        with lock:
            now[0] -= 1
        if count > 3:
            return status(429, retry_after_ms=20)
        return completion(body["messages"][0]["content"])

    server.responder = respond
    configure(max_retries=0, max_in_flight=16)
    assert list(overlap(ask, range(40))) == [str(n) for n in range(40)]
    assert tasks._slots.in_flight == 0  # pyright: ignore[reportPrivateUsage]


def test_what_waits_behind_a_failure_holds_no_place_that_comes_before_it(
    server: FakeServer, is_failed: threading.Event
) -> None:
    is_refused = threading.Event()

    def respond(body: dict[str, Any]) -> Answer:
        text = body["messages"][0]["content"]
        if text == "2" and not is_refused.is_set():
            is_refused.set()
            return status(429, retry_after_ms=300)
        return completion(text)

    def work(n: int) -> str:
        if n == 1:
            assert is_refused.wait(60)
            raise ValueError("no")
        if n == 0:
            assert is_failed.wait(60)
            time.sleep(0.5)  # the one behind the failure is the first that waits
        return ask(n)

    server.responder = respond
    configure(max_in_flight=3, max_wait=5)
    taken: list[str] = []
    with pytest.raises(ValueError, match="no"):
        for answer in overlap(work, [0, 1, 2]):
            taken.append(answer)
    assert taken == ["0"]


def test_a_prompt_that_is_refused_alone_fails(server: FakeServer) -> None:
    server.answers = [status(429, retry_after_ms=1)]
    configure(max_retries=0)
    with pytest.raises(RateLimited):
        list(overlap(ask, [1]))
    assert len(server.requests) == 1


def test_a_server_on_loopback_is_asked_several_things_at_once(server: FakeServer) -> None:
    together = threading.Barrier(16)  # nobody is answered before sixteen are asked

    def respond(body: Any) -> Answer:
        together.wait(timeout=60)
        return completion(body["messages"][0]["content"])

    ask("connect")
    server.responder = respond
    assert list(overlap(ask, range(32))) == [str(n) for n in range(32)]


_INTERRUPTED = """
import sys, time
from runtime_support import configure, overlap, prompt
from runtime_support._overlap import print

configure(provider="openai", base_url=sys.argv[1], model="fake")

def ask(n):
    print("asks", n, flush=True)
    return prompt("{n}", n=n).value

for answer in overlap(ask, range(100)):
    print(answer)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_everything_at_once(server: FakeServer, tmp_path: Path) -> None:
    import os
    import signal

    server.responder = lambda _: completion("late", delay=300)
    script = tmp_path / "main.py"
    script.write_text(_INTERRUPTED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, str(script), server.url],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: len(server.requests) >= 16 or process.poll() is not None)
    assert len(server.requests) == 16
    assert process.stdout is not None
    assert process.stdout.readline() == "asks 0\n"  # its turn comes when all of them have begun
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)  # and not when the answers come
    assert "KeyboardInterrupt" in errors
    assert output == ""
    assert len(server.requests) == 16


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="fork")
def test_a_forked_process_overlaps_on_its_own(model: Model) -> None:
    import os

    list(overlap(ask, range(8)))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        answers = list(overlap(ask, range(8)))
        os.write(write, "".join(answers).encode())
        os._exit(0)
    os.close(write)
    with open(read) as file:
        assert file.read() == "01234567"
    os.waitpid(child, 0)


def test_threads_end(model: Model) -> None:
    list(overlap(ask, range(20)))
    until(lambda: all(thread.name != "saft ahead" for thread in threading.enumerate()))
