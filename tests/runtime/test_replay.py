"""Recording and replaying exchanges."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from runtime_support import (
    ConfigError,
    ReplayMiss,
    ToolsUnsupported,
    TruncatedReply,
    configure,
    overlap,
    program,
    prompt,
)
from runtime_support import _recordings as replay
from runtime_support._core.messages import Reply, Request
from runtime_support._journal.json_lines import key_of, request_data
from runtime_support.testing import Scripted, tool_request

Script = Callable[..., Scripted]

ROOT = Path(__file__).parents[2]

# What "hi" is answered with.
ENTRY = json.dumps(
    {
        "key": key_of(Request(messages=({"role": "user", "content": "hi"},))),
        "repeat": 0,
        "request": {"messages": [{"role": "user", "content": "hi"}]},
        "reply": {"text": "hello", "of_a_later_version": 1},
        "made": "2031-01-01",
    }
)


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "recordings" / "file.jsonl"
    yield path
    replay.close(str(path))


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch, path: Path) -> Path:
    monkeypatch.setenv("SAFT_RECORD", str(path))
    return path


def start_replay(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    replay.close(str(path))
    monkeypatch.delenv("SAFT_RECORD", raising=False)
    monkeypatch.setenv("SAFT_REPLAY", str(path))


def square(x: int) -> int:
    return x * x


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_was_recorded_is_replayed_without_a_model(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    def script() -> list[Any]:
        result = prompt("{square} of 3", square=square, returns=int, options={"temperature": 0})
        return [result.value, result.tool_calls[0].result, result.usage, prompt("hi").value]

    scripted(tool_request("square", x=3), "not yet", "9", "hello")
    recorded = script()
    model = scripted()
    start_replay(monkeypatch, recording)
    assert script() == recorded
    assert model.requests == []


def test_replay_needs_no_provider_at_all(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("hello")
    prompt("hi")
    configure(provider="unset")
    start_replay(monkeypatch, recording)
    assert prompt("hi").value == "hello"


def test_repeats_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("one", "two")
    assert [prompt("hi").value for _ in range(2)] == ["one", "two"]
    start_replay(monkeypatch, recording)
    assert [prompt("hi").value for _ in range(2)] == ["one", "two"]
    with pytest.raises(ReplayMiss, match="the same request, recorded fewer"):
        prompt("hi")


def test_a_miss_shows_the_difference_to_the_nearest_entry(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("a", "b")
    prompt("something else entirely", options={"seed": 3})
    prompt("greet Ada", options={"temperature": 0})
    start_replay(monkeypatch, recording)
    with pytest.raises(ReplayMiss) as caught:
        prompt("greet Bob", options={"temperature": 0})
    said = str(caught.value)
    assert '-   "content": "greet Ada",' in said
    assert '+   "content": "greet Bob",' in said
    assert "seed" not in said
    assert said.splitlines()[-1].startswith("set SAFT_RECORD")
    assert caught.value.nearest is not None


def swallowing(word: str) -> str:
    """Greets, or says so where that fails."""
    try:
        return prompt("greet {word}", word=word).value
    except Exception:
        return "nobody"


async def swallowing_aio(word: str) -> str:
    """The same in an event loop."""
    try:
        return (await prompt.aio("greet {word}", word=word)).value
    except Exception:
        return "nobody"


def test_a_miss_ends_tools_programs_and_calls_that_overlap(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    calls: dict[str, Callable[[str], Any]] = {
        "tool": lambda word: prompt("use {swallowing} " + word, swallowing=swallowing).value,
        "program": lambda word: program("run {swallowing} " + word, swallowing=swallowing).value,
        "overlap": lambda word: [*overlap(swallowing, [word, word])],
        "loop": lambda word: asyncio.run(swallowing_aio(word)),
        "overlap in a loop": lambda word: asyncio.run(collect(word)),
    }

    async def collect(word: str) -> list[str]:
        return [one async for one in overlap.aio(swallowing_aio, [word, word])]

    answers = ["hello"] * 10
    scripted(tool_request("swallowing", word="Ada"), "hello", "so it is", *answers)
    assert calls["tool"]("Ada") == "so it is"
    scripted('{"swallowing": "Bob"}', "hello", *answers)
    assert calls["program"]("Bob") == "hello"
    start_replay(monkeypatch, recording)
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    asking = [line for line in lines if "greet" not in str(line["request"]["messages"][-1])]
    recording.write_text("".join(json.dumps(line) + "\n" for line in asking))
    for word, call in zip(("Ada", "Bob", "C", "D", "E"), calls.values(), strict=True):
        with pytest.raises(ReplayMiss) as caught:
            call(word)
        assert f'greet \\"{word}\\"' in str(caught.value)


def test_a_miss_compares_a_prompt_line_by_line(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("a")
    prompt("Be brief.\nIt is Monday in C:\\new.\nGreet Ada.")
    start_replay(monkeypatch, recording)
    with pytest.raises(ReplayMiss) as caught:
        prompt("Be brief.\nIt is Tuesday in C:\\new.\nGreet Ada.")
    changed = [line for line in str(caught.value).splitlines() if line[0] in "+-"]
    assert changed[2:] == ["-It is Monday in C:\\\\new.", "+It is Tuesday in C:\\\\new."]


@pytest.mark.parametrize("change", ["model", "temperature", "returns", "tools", "system"])
def test_everything_that_decides_the_answer_is_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script, change: str
) -> None:
    changed: dict[str, Any] = {
        "model": {"options": {"model": "other"}},
        "temperature": {"options": {"temperature": 1}},
        "returns": {"returns": int},
        "system": {"options": {"system": "be brief"}},
    }
    scripted("1")
    prompt("hi")
    start_replay(monkeypatch, recording)
    with pytest.raises(ReplayMiss):
        if change == "tools":
            prompt("{hi}", hi=square)
        else:
            prompt("hi", **changed[change])


def test_what_does_not_decide_the_answer_is_not(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("1")
    prompt("hi", options={"timeout": 5, "max_retries": 1})
    start_replay(monkeypatch, recording)
    assert prompt("hi", options={"provider": "mock", "timeout": 6}).value == "1"


def test_both_variables_record_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("old")
    prompt("known")
    replay.close(str(recording))
    monkeypatch.setenv("SAFT_REPLAY", str(recording))
    model = scripted("new")
    assert [prompt("known").value, prompt("unknown").value] == ["old", "new"]
    assert len(model.requests) == 1
    replay.close(str(recording))
    assert len(entries(recording)) == 2


def test_recording_again_refreshes_what_is_asked(recording: Path, scripted: Script) -> None:
    scripted("old", "kept")
    prompt("asked again")
    prompt("not asked again")
    replay.close(str(recording))
    scripted("new")
    prompt("asked again")
    replay.close(str(recording))
    assert sorted(entry["reply"]["text"] for entry in entries(recording)) == ["kept", "new"]


def test_the_file_is_sorted_and_the_same_each_time(recording: Path, scripted: Script) -> None:
    texts: list[str] = []
    for order in (range(6), reversed(range(6))):
        recording.unlink(missing_ok=True)
        scripted(*["x"] * 6)
        for number in order:
            prompt("{n}", n=number)
        replay.close(str(recording))
        texts.append(recording.read_text())
    assert texts[0] == texts[1]
    keys = [entry["key"] for entry in entries(recording)]
    assert keys == sorted(keys)


def test_an_entry_is_plain_data_without_headers(recording: Path, scripted: Script) -> None:
    scripted(Reply("hello", model="m", input_tokens=1, output_tokens=2))
    prompt("hi", options={"temperature": 0})
    (entry,) = entries(recording)
    assert entry == {
        "key": entry["key"],
        "repeat": 0,
        "request": {
            "messages": [{"role": "user", "content": "hi"}],
            "options": {"temperature": 0.0},
        },
        "reply": {
            "text": "hello",
            "tool_calls": [],
            "finish": "stop",
            "model": "m",
            "input_tokens": 1,
            "output_tokens": 2,
        },
    }


def test_a_secret_is_recorded_as_redacted(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    password = 'correct "horse"\\battery'
    monkeypatch.setenv("MAIL_PASSWORD", password)
    secrets = ("sk-proj-abcdefghijklmnop1234", password, f"{{\n{password}")
    for secret in secrets:
        scripted(f"it is {secret}")
        assert prompt("log in with {secret}", secret=secret).value == f"it is {secret}"
    replay.close(str(recording))
    written = recording.read_text()
    assert "abcdefghijklmnop" not in written and "battery" not in written
    start_replay(monkeypatch, recording)
    for secret in secrets:
        answer = prompt("log in with {secret}", secret=secret).value
        assert answer.startswith("it is ") and "[redacted]" in answer


def test_another_key_of_the_same_form_finds_the_recorded_answer(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("ok")
    prompt("use sk-proj-abcdefghijklmnop1234")
    start_replay(monkeypatch, recording)
    assert prompt("use sk-proj-1234abcdefghijklmnop").value == "ok"


def test_an_edited_request_is_found_by_what_it_says_now(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("ok")
    prompt("one question")
    replay.close(str(recording))
    recording.write_text(recording.read_text().replace("one question", "another question"))
    start_replay(monkeypatch, recording)
    assert prompt("another question").value == "ok"
    with pytest.raises(ReplayMiss, match=r"-.*another question"):
        prompt("one question")


def test_a_recording_is_for_its_owner_alone(recording: Path, scripted: Script) -> None:
    for text in ("a", "b"):
        scripted(text)
        prompt(text)
        assert stat.S_IMODE(recording.stat().st_mode) == 0o600
        replay.close(str(recording))
        assert stat.S_IMODE(recording.stat().st_mode) == 0o600, "also when it was sorted"
        recording.unlink()


def test_unused_entries_are_told(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("a", "b")
    prompt("used")
    prompt("not used")
    start_replay(monkeypatch, recording)
    prompt("used")
    (unused,) = replay.close(str(recording))
    assert unused["request"]["messages"][0]["content"] == "not used"


def test_concurrent_use(monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script) -> None:
    class Echo:
        def complete(self, request: Request) -> Reply:
            return Reply(request.messages[0]["content"])

    def all_of_them() -> list[str]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda n: prompt("{n}", n=n % 25).value, range(100)))

    configure(provider=Echo())
    recorded = all_of_them()
    start_replay(monkeypatch, recording)
    assert all_of_them() == recorded
    assert len(entries(recording)) == 100


def test_a_provider_without_tools_replays_as_one(
    monkeypatch: pytest.MonkeyPatch, recording: Path
) -> None:
    class WithoutTools(Scripted):
        def complete(self, request: Request) -> Reply:
            if request.tools:
                raise ToolsUnsupported("no tools here")
            return super().complete(request)

    configure(provider=WithoutTools(['{"name": "Al"}']))
    assert prompt("?", fields={"name": str}).value == ("Al",)
    start_replay(monkeypatch, recording)
    assert prompt("?", fields={"name": str}).value == ("Al",)


def test_a_damaged_recording_is_a_config_error(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    path.parent.mkdir()
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    for text in (
        "{oops\n",
        "[1]",
        '{"key": "x"}',
        ENTRY.replace('"text"', '"texts"'),
        "[" * 99_999 + "\n",
    ):
        path.write_text(text)
        with pytest.raises(ConfigError, match=r"file\.jsonl:"):
            prompt("hi")
        replay.close(str(path))


def test_a_recording_that_is_not_there_is_a_miss(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    with pytest.raises(ReplayMiss, match="there is no recording"):
        prompt("hi")


def test_at_exit_the_file_is_sorted_and_unused_entries_are_reported(path: Path) -> None:
    script = (
        "import sys; from runtime_support import prompt\n"
        "[prompt('{n}', n=n, options={'provider': 'mock'}) for n in map(int, sys.argv[1:])]"
    )

    def run(*numbers: str, **variables: str) -> str:
        command = [sys.executable, "-c", script, *numbers]
        environment = {"PYTHONPATH": str(ROOT), **variables}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stderr

    assert run("1", "2", "3", SAFT_RECORD=str(path)) == ""
    keys = [entry["key"] for entry in entries(path)]
    assert keys == sorted(keys)
    told = run("2", SAFT_REPLAY=str(path))
    assert f"2 unused entries in {path}: {keys[0]} (" in told
    assert "); delete their lines, or record the file anew\n" in told


# What crashes, other processes and full disks do to a recording


def ask(*numbers: int) -> list[str]:
    return [prompt("number {n}", n=number).value for number in numbers]


def test_a_torn_last_line_is_left_out_with_a_note(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path.parent.mkdir()
    path.write_text(f"{ENTRY}\n{ENTRY[:-15]}")
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    assert prompt("hi").value == "hello"
    said = f"saftc: {path}:2: the last line is incomplete and is left out\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("end", ["", "\n", "\n" + ENTRY[:-15], "\n" + ENTRY[:9], "\n" * 3])
def test_recording_goes_on_after_any_end(
    path: Path, recording: Path, scripted: Script, end: str
) -> None:
    path.parent.mkdir()
    path.write_text(ENTRY + end)
    scripted("one", "two")
    ask(1, 2)
    before_it_is_sorted = [json.loads(line) for line in path.read_text().split("\n") if line]
    assert len(before_it_is_sorted) == 3
    replay.close(str(path))
    assert sorted(entry["reply"]["text"] for entry in entries(path)) == ["hello", "one", "two"]


def test_a_long_torn_line_is_taken_away(path: Path, recording: Path, scripted: Script) -> None:
    path.parent.mkdir()
    path.write_text(f"{ENTRY}\n{ENTRY[:50]}{'x' * 200_000}")
    scripted("one")
    ask(1)
    assert len(entries(path)) == 2


def test_what_a_later_version_wrote_is_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch, scripted: Script
) -> None:
    path.parent.mkdir()
    path.write_text(ENTRY + "\n")
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    monkeypatch.setenv("SAFT_RECORD", str(path))
    scripted("one")
    assert [prompt("hi").value, *ask(1)] == ["hello", "one"]
    replay.close(str(path))
    assert json.loads(ENTRY) in entries(path)


@pytest.mark.parametrize("edited", ['"words": "', '"text": 7, "model": "'])
def test_an_unusable_reply_is_told_with_its_place(
    path: Path, monkeypatch: pytest.MonkeyPatch, edited: str
) -> None:
    path.parent.mkdir()
    assert '"text": "' in ENTRY
    path.write_text(ENTRY.replace('"text": "', edited) + "\n")
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    with pytest.raises(ConfigError, match=r"file\.jsonl: the entry \w+ has no usable reply"):
        prompt("hi")


def test_what_others_add_while_a_recording_is_finished_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process adds its line at the worst moment: the file was read, and is not replaced."""
    path.parent.mkdir()
    first = Request(messages=({"role": "user", "content": "first"},))
    one = replay.Recording(str(path))
    one.put(one.place(key_of(first)), request_data(first), {"reply": {"text": "1"}})
    adding = (
        "import sys, json\n"
        "from runtime_support._core.messages import Request\n"
        "from runtime_support._journal.json_lines import key_of, request_data\n"
        "from runtime_support._recordings import Recording\n"
        "request = Request(messages=({'role': 'user', 'content': 'second'},))\n"
        "other = Recording(sys.argv[1])\n"
        "print('begins', flush=True)\n"
        "place = other.place(key_of(request))\n"
        "other.put(place, request_data(request), {'reply': {'text': '2'}})\n"
    )
    others: list[subprocess.Popen[str]] = []
    original = replay._read

    def read(path: str) -> Any:
        found = original(path)
        command = [sys.executable, "-c", adding, path]
        other = subprocess.Popen(
            command, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
        )
        assert other.stdout is not None and other.stdout.readline() == "begins\n"
        others.append(other)
        return found

    monkeypatch.setattr(replay, "_read", read)
    one.close()
    others[0].communicate()
    assert [other.returncode for other in others] == [0]
    assert sorted(entry["reply"]["text"] for entry in entries(path)) == ["1", "2"]


def test_several_processes_record_to_one_file(path: Path) -> None:
    script = (
        "import sys\n"
        "from runtime_support import prompt\n"
        "from runtime_support import _recordings as replay\n"
        "for n in range(20):\n"
        "    prompt('{p} {n}', p=sys.argv[1], n=n, options={'provider': 'mock'})\n"
        "    if n % 5 == 4: replay.close(sys.argv[2])\n"
    )
    environment = {"PYTHONPATH": str(ROOT), "SAFT_RECORD": str(path)}
    running = [
        subprocess.Popen([sys.executable, "-c", script, name, str(path)], env=environment)
        for name in "abc"
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(entries(path)) == 60


@pytest.mark.parametrize("place", ["/dev/null", "/dev/full", "pipe", "folder", "file/inside.jsonl"])
def test_what_cannot_be_recorded_to_is_found_before_anything_is_paid_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Script, place: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SAFT_RECORD", str(tmp_path / place))
    model = scripted("ok")
    with pytest.raises(ConfigError) as caught:
        prompt("hi")
    assert str(tmp_path / place) in str(caught.value)
    assert model.requests == []


def test_a_full_disk_costs_no_reply(
    monkeypatch: pytest.MonkeyPatch,
    recording: Path,
    scripted: Script,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write, is_full = os.write, False

    def limited(descriptor: int, data: Any) -> int:
        if is_full:
            if len(data) > 5:
                return write(descriptor, data[:5])
            raise OSError(28, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", limited)
    model = scripted("one", "two", "three")
    assert ask(1) == ["one"]
    is_full = True
    assert ask(2) == ["two"]
    said = f"saftc: cannot write the recording {recording}: No space left on device\n"
    assert capsys.readouterr().err == said
    with pytest.raises(ConfigError, match=f"{recording}: No space left on device"):
        ask(3)
    assert len(model.requests) == 2
    assert [entry["reply"]["text"] for entry in entries(recording)] == ["one"]
    is_full = False
    assert ask(4) == ["three"]
    replay.close(str(recording))
    texts = {entry["reply"]["text"] for entry in entries(recording)}
    assert texts == {"one", "two", "three"}


def test_a_file_that_may_not_grow(path: Path) -> None:
    script = """
import resource, sys
from runtime_support import configure, prompt
from runtime_support.testing import Scripted
configure(provider=Scripted([str(n) * 50 for n in range(9)]))
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
for n in range(9):
    print(prompt("{n}", n=n).value[0], flush=True)
"""
    environment = {"PYTHONPATH": str(ROOT), "SAFT_RECORD": str(path)}
    # Without -B, a module that it compiles would be kept torn, for all that load it later.
    done = subprocess.run(
        [sys.executable, "-B", "-c", script], env=environment, capture_output=True, text=True
    )
    kept = [entry["reply"]["text"][0] for entry in entries(path)]
    answers = done.stdout.split()
    assert sorted(answers) == [*sorted(kept), answers[-1]]
    assert f"ConfigError: cannot write the recording {path}: File too large" in done.stderr
    assert done.stderr.splitlines()[-1] == (
        f"saftc: cannot finish the recording {path}: File too large; 1 replies are not in it"
    )


def test_half_surrogates_can_be_recorded(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("half \ud800 é")
    assert prompt("hi").value == "half \ufffd é"
    start_replay(monkeypatch, recording)
    assert prompt("hi").value == "half \ufffd é"
    assert "é" in recording.read_text()


def test_a_miss_compares_few_entries(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    import difflib

    path.parent.mkdir()
    with path.open("w") as file:
        for number in range(2000):
            content = f"the weather of day {number} in Oslo"
            request = {"messages": [{"role": "user", "content": content}]}
            entry = {"key": str(number), "repeat": 0, "request": request, "reply": {"text": "x"}}
            print(json.dumps(entry), file=file)
    compared: list[Any] = []

    class Counting(difflib.SequenceMatcher[str]):
        def __init__(self, *arguments: Any) -> None:
            compared.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr(difflib, "SequenceMatcher", Counting)
    monkeypatch.setenv("SAFT_REPLAY", str(path))
    with pytest.raises(ReplayMiss) as caught:
        prompt("the weather of day 1234 in Bergen")
    assert "day 1234 in Oslo" in str(caught.value)
    assert len(compared) <= 2 * replay.MOST_COMPARED


def test_a_link_is_written_through(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Script
) -> None:
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    monkeypatch.setenv("SAFT_RECORD", "link.jsonl")
    scripted("a", "b")
    ask(2, 1)
    replay.close("link.jsonl")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert len(entries(tmp_path / "real.jsonl")) == 2


def test_a_forked_process_has_recordings_of_its_own(recording: Path, scripted: Script) -> None:
    scripted("one", "two", "three")
    ask(1)
    child = os.fork()
    if child == 0:
        ask(2)
        os._exit(0 if str(recording) in replay._open.open else 1)
    assert os.waitpid(child, 0)[1] == 0
    ask(3)
    replay.close(str(recording))
    assert len(entries(recording)) == 3


def test_an_interrupt_while_finishing_leaves_no_file_behind(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("one")
    ask(1)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        replay._close_all()
    assert os.listdir(recording.parent) == [recording.name]
    assert len(entries(recording)) == 1


def test_one_callback_at_exit(path: Path) -> None:
    import atexit

    before = atexit._ncallbacks()
    for number in range(5):
        replay.open_recording(f"{path}{number}")
        replay.close(f"{path}{number}")
    assert atexit._ncallbacks() == before


def test_the_model_of_the_reader_is_no_part_of_a_recording(
    monkeypatch: pytest.MonkeyPatch, recording: Path, scripted: Script
) -> None:
    scripted("hello", "hello, too", "sixty")
    monkeypatch.setenv("SAFT_MODEL", "mine")
    prompt("hi")
    prompt("hi", options={"model": "large"})
    with configure(model="middle"):
        prompt("hi")
    start_replay(monkeypatch, recording)
    assert sorted(entry["request"].get("model", "") for entry in entries(recording)) == [
        "",
        "large",
        "middle",
    ]
    for name in ("yours", "large", ""):
        monkeypatch.setenv("SAFT_MODEL", name)
        assert prompt("hi").value == "hello"
        assert prompt("hi", options={"model": "large"}).value == "hello, too"
        replay.close(str(recording))
    with pytest.raises(ReplayMiss):
        prompt("hi", options={"model": "small"})


def test_a_reply_that_was_cut_is_so_in_a_replay(
    scripted: Script, monkeypatch: pytest.MonkeyPatch, recording: Path
) -> None:
    scripted(Reply("once upon", finish="length"))
    with pytest.raises(TruncatedReply):
        prompt("a story")
    start_replay(monkeypatch, recording)
    with pytest.raises(TruncatedReply) as caught:
        prompt("a story")
    assert caught.value.text == "once upon"
    replay.close(str(recording))
    # Whether a cut text is taken is no part of the request.
    taken = prompt("a story", options={"on_truncated": "accept"})
    assert (taken.value, taken.finish) == ("once upon", "length")
