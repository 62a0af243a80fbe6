"""`saftc run --journal`, `saftc trace`, `saftc journals`, and the page that promises."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from runtime_support._core import scopes as places
from runtime_support._core import spending
from runtime_support._journal import hook as keeping
from runtime_support._journal import json_lines as lines
from saftc.trace import timeline as _timeline
from tests.cli.conftest import Command
from tests.support.full_disk import fail_rows, limit_pages

Script = Callable[[str, str], Path]
ROOT = Path(__file__).parents[2]

GREETING = """\
for name in ["Ada", "Bo"]:
    print($ greet {name} $)
"""


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spending, "_of_process", spending.UsageMeter())
    monkeypatch.setattr(places, "_root", places.RunScope())
    monkeypatch.setattr(keeping, "_of_process", lines.OpenFiles())


def test_the_same_command_goes_on(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script("greet.saft", GREETING)
    run = ("run", "greet.saft", "--provider", "mock", "--journal", "a.journal")
    ended = saftc(*run, "--budget-requests", "1")
    assert (ended.code, ended.out) == (1, "Hello, Ada!\n"), ended.err
    assert ended.err.endswith(
        "saftc: 1 answer is kept in a.journal; run the same command again to resume\n"
    )
    monkeypatch.setattr(spending, "_of_process", spending.UsageMeter())
    monkeypatch.setattr(places, "_root", places.RunScope())
    ended = saftc(*run, "--budget-requests", "2")
    assert (ended.code, ended.out) == (0, "Hello, Ada!\nHello, Bo!\n")
    assert re.fullmatch(
        r"saftc: a.journal: resumes the run, last started [-\d]+ [:\d]+; 1 answer is kept\n",
        ended.err,
    )
    shown = saftc("trace", "a.journal")
    assert shown.out.startswith(
        '[1] greet.saft:2:11 -> mock\n  user:\n    greet "Ada"\n[1] <- mock (rules, no model), '
    )
    assert shown.out.endswith("2 prompts, 2 requests, 10 tokens; ok\n")
    listed = saftc("journals").out.splitlines()
    assert listed[0].split() == ["journal", "script", "begun", "state", "answers", "tokens", "size"]
    assert re.fullmatch(
        r"a.journal  greet   [-\d]+ [:\d]+  ok     2        10      \d+ kB", listed[1]
    )


def test_a_run_that_was_interrupted(saftc: Command, script: Script) -> None:
    script("stop.py", "def stop():\n    raise KeyboardInterrupt\n")
    script("greet.saft", "from stop import stop\nprint($ greet {1} $)\nstop()\n")
    ended = saftc("run", "greet.saft", "--provider", "mock", "--journal", "a.journal")
    assert ended.code == 130 and ended.err.endswith("saftc: interrupted\n")
    assert saftc("journals").out.splitlines()[1].split()[4] == "interrupted"
    assert saftc("trace", "a.journal").out.endswith("; interrupted\n")


def test_the_sum_of_a_run(saftc: Command, script: Script) -> None:
    script("greet.saft", GREETING)
    ended = saftc("run", "greet.saft", "--provider", "mock", "--usage")
    assert ended.out == "Hello, Ada!\nHello, Bo!\n"
    assert re.fullmatch(r"saftc: 2 prompts: 2 requests, 10 tokens, \d+\.\d s\n", ended.err)


def test_another_script(saftc: Command, script: Script) -> None:
    script("greet.saft", GREETING)
    script("other.saft", GREETING)
    options = ("--provider", "mock", "--journal", "a.journal")
    assert saftc("run", "greet.saft", *options).code == 0
    ended = saftc("run", "other.saft", *options)
    assert ended.code == 1
    assert "a.journal is the journal of another script, greet: this is other" in ended.err


def test_a_damaged_journal_in_a_folder_is_told(
    saftc: Command, script: Script, folder: Path
) -> None:
    """It is not passed over: it may hold what was paid, or calls that wait."""
    script("greet.saft", GREETING)
    assert saftc("run", "greet.saft", "--provider", "mock", "--journal", "a.journal").code == 0
    (folder / "cut.journal").write_bytes((folder / "a.journal").read_bytes()[:6000])
    (folder / "diary.txt").write_text("Dear diary,\n")
    with closing(sqlite3.connect(folder / "app.db")) as other:
        other.execute("create table paid (name text)")
    listed = saftc("journals")
    assert [line.split()[0] for line in listed.out.splitlines()] == ["journal", "a.journal"]
    assert listed.err.startswith("saftc: cut.journal is damaged: ")
    assert listed.err.count("saftc: ") == 1
    decided = saftc("approve", ".")
    assert decided.code == 1 and "cut.journal is damaged: " in decided.err


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing", None, "cannot read the journal missing: No such file or directory"),
        ("empty", b"", "empty is empty"),
        ("text", b"Dear diary,\n", "text is not a journal; name another file"),
        ("old", b'{"saft": "journal", "version": 1, "script": ""}\n', "of an earlier saftc"),
        ("cut", b"SQLite format 3\0" + bytes(20), "cut is not a journal, or is damaged"),
    ],
)
def test_what_cannot_be_shown(
    saftc: Command, folder: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    ended = saftc("trace", name)
    assert (ended.code, ended.out) == (1, "")
    assert said in ended.err


COUNTING = """\
for n in [1, 2, 3, 4, 5, 6, 7, 8]:
    {}
print("done")
"""


@pytest.mark.parametrize(
    ("line", "out", "told"),
    [
        ("print($ greet {n} $)", 0, ["error: JournalError: ", "saftc: "]),
        # Also when the script catches it, and when nobody asks for what ran ahead.
        ("try: print($ greet {n} $)\n    except error: print(error.kind)", 1, ["saftc: "]),
    ],
)
def test_a_full_disk_is_told_once(
    saftc: Command,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    out: int,
    told: list[str],
) -> None:
    script("a.saft", COUNTING.replace("{}", line))
    limit_pages(monkeypatch, 10)
    ended = saftc("run", "a.saft", "--provider", "mock", "--journal", "a.journal")
    assert (ended.code, ended.out.count("done")) == (1, out)
    assert ended.err.count("database or disk is full") == 1
    assert "Traceback" not in ended.err and "bug" not in ended.err
    assert all(words in ended.err for words in told), ended.err
    assert saftc("journals").out.splitlines()[1].split()[4] == "failed"


def test_an_end_that_cannot_be_noted_is_a_failure(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script("a.saft", 'print("hello")\n')
    fail_rows(monkeypatch, lambda step: step == "ended")
    ended = saftc("run", "a.saft", "--provider", "mock", "--journal", "a.journal")
    assert (ended.code, ended.out) == (1, "hello\n")
    assert ended.err == (
        "saftc: cannot keep answers in a.journal: database or disk is full; the kept answers are "
        "intact: make room, then resume the run\n"
    )


def test_odd_journals_do_not_hide_the_others(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script("greet.saft", GREETING)
    for name in ("a.journal", "deep.journal", "z.journal"):
        monkeypatch.setattr(places, "_root", places.RunScope())
        assert saftc("run", "greet.saft", "--provider", "mock", "--journal", name).code == 0
    content = bytearray(Path("deep.journal").read_bytes())
    content[content.index(b"Hello, Ada")] ^= 1
    Path("deep.journal").write_bytes(content)
    head = '{"saft": "journal", "version": 1, "script": "greet", "time": "x"}\n'
    Path("odd.journal").write_text(head)
    listed = saftc("journals")
    assert listed.code == 0
    names = [line.split()[0] for line in listed.out.splitlines()[1:]]
    assert names == ["a.journal", "z.journal"]
    assert listed.err == "saftc: deep.journal is damaged: a row of it has changed\n"
    ended = saftc("run", "greet.saft", "--provider", "mock", "--journal", "odd.journal")
    assert ended.code == 1
    said = "saftc: odd.journal is a journal of an earlier saftc, in lines of text; resume it with"
    assert ended.err.startswith(said)
    assert Path("odd.journal").read_text() == head
    shown = saftc("trace", "deep.journal")
    assert shown.code == 1
    assert "deep.journal is damaged" in shown.err


def test_the_page_of_a_huge_journal_shows_its_beginning(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script("a.saft", COUNTING.replace("{}", "print($ greet {n} $)"))
    assert saftc("run", "a.saft", "--provider", "mock", "--journal", "a.journal").code == 0
    monkeypatch.setattr(_timeline, "MOST_STEPS", 5)
    ended = saftc("trace", "a.journal", "--timeline", "a.html")
    assert ended.code == 0
    assert ended.err == "saftc: a.html shows the beginning of the run; 3 later steps are left out\n"
    page = Path("a.html").read_text()
    assert '"left": 3' in page and page.count('"told"') == 5
    monkeypatch.setattr(_timeline, "MOST_STEPS", 100)
    monkeypatch.setattr(_timeline, "MOST_TOLD", 10)
    assert "7 later steps are left out" in saftc("trace", "a.journal", "--chrome", "a.json").err


def test_what_is_no_journal_is_nothing_for_the_script_to_catch(
    saftc: Command, script: Script
) -> None:
    Path("notes.txt").write_text("hello\n")
    script("a.saft", "try:\n    print($ hi $)\nexcept error:\n    print(error.kind)\n")
    ended = saftc("run", "a.saft", "--provider", "mock", "--journal", "notes.txt")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "saftc: notes.txt is not a journal; name another file\n"
    assert Path("notes.txt").read_text() == "hello\n"


def test_a_folder_without_journals(saftc: Command, script: Script) -> None:
    script("greet.saft", GREETING)
    assert saftc("journals").out == "there are no journals in .\n"
    ended = saftc("journals", "nowhere")
    assert (ended.code, ended.err) == (1, "saftc: there is no folder nowhere\n")


def test_each_promise_has_its_test() -> None:
    page = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    named = re.findall(r"`(?:(\w+/test_\w+\.py)::)?(test_\w+)`", page)
    assert len(named) >= 70
    file = ""
    for other, test in named:
        file = other or file
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), test


def test_tests_are_named_among_the_promises_alone() -> None:
    pages = (ROOT / "docs").glob("*.md")
    assert [page.name for page in pages if "::test_" in page.read_text(encoding="utf-8")] == [
        "promises.md"
    ]


def test_no_key_is_shown(saftc: Command, script: Script) -> None:
    key = "sk-abcdefghijklmnopqrstuvwx"
    script("a.saft", f'key = "{key}"\nprint($ greet {{key}} $)\n')
    ended = saftc("run", "a.saft", "--provider", "mock", "--journal", "a.journal")
    assert ended.code == 0, ended.err
    assert key.encode() in Path("a.journal").read_bytes()
    shown = saftc("trace", "a.journal")
    drawn = saftc("trace", "a.journal", "--timeline", "a.html", "--chrome", "a.json")
    everything = shown.out + shown.err + drawn.out + drawn.err + saftc("journals").out
    everything += Path("a.html").read_text() + Path("a.json").read_text()
    assert "[redacted]" in shown.out and key not in everything
