"""`saftc map`: what the command takes, what it refuses, and what it leaves behind."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from runtime_support._core import spending
from runtime_support._local.provider import is_available
from runtime_support._recordings import close
from runtime_support.map import _runner as runner
from tests.cli.conftest import Command
from tests.support.fake_server import Answer, FakeServer

Script = Callable[[str, str], Path]
ROOT = Path(__file__).parents[2]

TRIAGE = """\
from lib.words import loud

type Ticket(title: string, length: int)

f triage(mail: string, least: int = 0) -> Ticket:
    assert len(mail) > least
    ret Ticket(loud($ convert {mail} to uppercase $), len(mail))

f list(mail: string) -> string:
    ret mail

f main():
    print("not of the job")
"""
WORDS = """\
f loud(text: string) -> string:
    ret upper(text)
"""


@pytest.fixture(autouse=True)
def mails(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    script("home/triage.saft", TRIAGE)
    script("home/lib/words.saft", WORDS)
    script("mails.csv", "id,mail\n1,hello\n2,hi\n")
    monkeypatch.setenv("SAFT_PROVIDER", "mock")


def rows(pattern: str) -> list[dict[str, object]]:
    texts = (path.read_text(encoding="utf-8") for path in sorted(Path().glob(pattern)))
    return [json.loads(line) for text in texts for line in text.splitlines()]


def test_a_function_of_a_script_and_the_same_again(saftc: Command) -> None:
    known = set(sys.modules)
    ended = saftc("map", "home/triage.saft:triage", "mails.csv", "out")
    assert (ended.code, ended.out) == (0, "")
    assert re.fullmatch(r"2 rows: 2 done; 2 requests, \d+ tokens, [\d.]+ s\n", ended.err)
    assert rows("out/part-*") == [
        {"row": 0, "id": "1", "mail": "hello", "title": "HELLO", "length": 5},
        {"row": 1, "id": "2", "mail": "hi", "title": "HI", "length": 2},
    ]
    again = saftc("map", "home/triage.saft:triage", "mails.csv", "out", "--provider", "mock")
    assert again.code == 0 and "2 done; 2 requests" in again.err
    assert {"triage", "lib", "lib.words"}.isdisjoint(set(sys.modules) - known)
    assert not hasattr(sys.modules["__main__"], "__saft_folder__")


def test_how_far_it_is_unless_it_is_to_be_quiet(
    saftc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_TOLD_EVERY", 0.0)
    job = ("map", "home/triage.saft:triage", "mails.csv")
    assert "saftc: 2 of 2 rows, " in saftc(*job, "loud").err
    quiet = saftc("-q", *job, "quiet")
    assert (quiet.code, quiet.err) == (0, "")


def test_a_failed_row_tells_its_place_in_the_script(saftc: Command) -> None:
    ended = saftc("map", "home/triage.saft:triage", "mails.csv", "out", "--set", "least=3")
    assert ended.code == 1
    assert "2 rows: 1 done, 1 failed (AssertionError 1; errors-*.jsonl)" in ended.err
    (failed,) = rows("out/errors-*")
    assert failed == {
        "row": 1,
        "error": "AssertionError",
        "message": "assertion failed",
        "at": "triage.saft:6:5",
        "input": {"mail": "hi"},
    }
    assert re.search(r"^job\.db .* failed ", saftc("journals", "out").out, re.M)


def test_options(saftc: Command) -> None:
    job = ("map", "home/triage.saft:list", "mails.csv")
    ended = saftc(*job, "a", "--rename", "mail=id", "--columns", "none", "--limit", "1")
    assert (ended.code, rows("a/part-*")) == (0, [{"row": 0, "result": "1"}])
    ended = saftc("-q", *job, "b", "--columns", "id", "--format", "parquet", "--rows-at-once", "2")
    assert (ended.code, ended.err) == (0, "")
    assert [path.name for path in Path("b").glob("part*")] == ["part-000000.parquet"]
    ended = saftc(*job, "c", "--check")
    assert (ended.code, ended.err) == (0, "2 rows checked: found nothing wrong\n")
    assert not Path("c").exists()


def test_a_job_that_was_started_otherwise(saftc: Command) -> None:
    job = ("map", "home/triage.saft:list", "mails.csv", "out")
    assert saftc(*job, "--row-timeout", "60").code == 0
    ended = saftc(*job, "--columns", "none")
    assert ended.code == 2
    assert "out holds another job, which was started with a different `columns`; " in ended.err
    assert saftc(*job, "--row-timeout", "30").code == 0


def test_a_check_looks_at_each_row(saftc: Command, script: Script) -> None:
    script("mails.csv", "mail,least\n" + "hello,1\n" * 150 + "hi,x\n" + "hello,2\n" * 150)
    ended = saftc("map", "home/triage.saft:triage", "mails.csv", "out", "--check")
    assert (ended.code, Path("out").exists()) == (2, False)
    assert ended.err == 'saftc: mails.csv:152: least: expected int, got string "x"\n'
    script("mails.csv", "mail,least\n" + "hi,x\n" * 300)
    ended = saftc("map", "home/triage.saft:triage", "mails.csv", "out", "--check")
    assert ended.err.splitlines()[-1].endswith("... and 295 rows more")


def test_rows_that_do_not_fit(saftc: Command, script: Script) -> None:
    script("mails.csv", "mail,least\nhello,1\nhi,x\nhello,2\n")
    job = ("map", "home/triage.saft:triage", "mails.csv", "out")
    ended = saftc(*job, "--check")
    assert (ended.code, Path("out").exists()) == (2, False)
    assert ended.err == 'saftc: mails.csv:3: least: expected int, got string "x"\n'
    script("renamed.csv", "mail,floor\nhello,x\n")
    ended = saftc("map", job[1], "renamed.csv", "out", "--rename", "least=floor", "--check")
    assert ended.err == 'saftc: renamed.csv:2: floor: expected int, got string "x"\n'
    ended = saftc(*job)
    assert ended.code == 1 and "3 rows: 2 done, 1 failed (CheckError 1; errors-" in ended.err


def test_budget_and_limits_are_those_of_a_run(
    saftc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ("map", "home/triage.saft:triage", "mails.csv", "out")
    ended = saftc(*job, "--budget-requests", "1", "--requests-per-minute", "100000")
    assert ended.code == 5
    assert "2 rows: 1 done, 1 left; 1 request" in ended.err
    assert ended.err.endswith("raise `budget_requests` to continue\n")
    monkeypatch.setattr(spending, "_of_process", spending.UsageMeter())
    assert saftc(*job, "--budget-requests", "2").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["home/triage.saft", "mails.csv"], 2, "home/triage.saft names no function of a script: "),
        (["home/triage.saft:triag", "mails.csv"], 2, "no function `triag`; did you mean `triage`?"),
        (["home/none.saft:f", "mails.csv"], 2, "there is no file home/none.saft"),
        (["home/triage.saft:triage", "none.csv"], 2, "cannot read none.csv: No such file"),
        (["home/triage.saft:triage", "mails.csv", "--rename", "mail"], 2, "--rename has the form"),
        (["home/triage.saft:triage", "mails.csv", "--set", "mail=x"], 2, "--set 'mail=\"x\"'"),
        (["home/triage.saft:triage", "mails.csv", "--max-failed", "a"], 2, "a share such as 10%"),
        (["home/triage.saft:triage", "mails.csv", "--rows-at-once", "0"], 2, "rows-at-once"),
        (
            ["home/triage.saft:main", "mails.csv"],
            2,
            "`main` takes no column of mails.csv: every row wo",
        ),
        (["home/triage.saft:main", "mails.csv", "--check"], 2, "a parameter takes the column of"),
        (["home/triage.saft:list", "mails.csv", "--set", 'mail="x"'], 2, "--rename PARAMETER="),
        (["home/triage.saft:list", "mails.csv", "--row-timeout", "0"], 2, "row_timeout: expected"),
        (["home/triage.saft:triage", "mails.csv", "--set", "x=1"], 2, "has no parameter `x`"),
        (["home/triage.saft:triage", "mails.csv", "--provider", "x"], 2, "no provider `x`"),
    ],
)
def test_what_is_wrong_is_told_before(
    arguments: list[str], code: int, told: str, saftc: Command
) -> None:
    ended = saftc("map", *arguments[:2], "out", *arguments[2:])
    assert (ended.code, told in ended.err) == (code, True), ended.err
    assert not Path("out").exists() and "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("top", "said"),
    [
        ("title = $ name it $\n", "asks a model"),
        (
            'f note():\n    append_text("a", "b")\n\nnote()\n',
            "changes files, or waits for the user",
        ),
        ("print(1)\n", "prints"),
    ],
)
def test_a_top_level_that_every_process_would_run(
    top: str, said: str, saftc: Command, script: Script
) -> None:
    script("home/lib/words.saft", WORDS + "\n" + top)
    ended = saftc("map", "home/triage.saft:triage", "mails.csv", "out")
    line = (WORDS + "\n" + top).rstrip("\n").count("\n") + 1
    assert ended.code == 2
    assert ended.err == (
        f"saftc: home/lib/words.saft:{line}:1: the top level of a mapped script runs in every "
        f"process, and here it {said}; put it into `main`\n"
    )


ANSWERS = """\
type Answer(text: string):
    assert len(text) > 0

f ask(mail: string) -> Answer: ret $ convert {mail} to uppercase $
f note(mail: string):
    print(mail)
    append_text("notes.txt", mail)
"""


@pytest.mark.parametrize(
    "imports",
    ["from lib.answers import ask", "from lib.answers import Answer, note", "import lib.answers"],
)
@pytest.mark.parametrize("again", [False, True])
def test_a_script_that_imports_functions_that_ask_print_and_write(
    imports: str, again: bool, saftc: Command, script: Script
) -> None:
    script("home/lib/answers.saft", ANSWERS)
    function = "f read(mail: string): ret $ convert {mail} to lowercase $\n"
    script("home/use.saft", f"{imports}\n{function}")
    if again:  # through another script
        script("home/more.saft", f"from use import read\n{function.replace('read', 'more')}")
    target = "home/more.saft:more" if again else "home/use.saft:read"
    checked = saftc("map", target, "mails.csv", "out", "--check")
    assert (checked.code, checked.err.splitlines()[0]) == (0, "2 rows checked: found nothing wrong")
    ended = saftc("map", target, "mails.csv", "out")
    assert (ended.code, "2 rows: 2 done" in ended.err) == (0, True), ended.err


@pytest.mark.parametrize("imported", [False, True])
def test_a_default_that_asks_is_asked_at_the_top_level(
    imported: bool, saftc: Command, script: Script
) -> None:
    asking = "f read(mail: string, tone = $ pick one $): ret tone\n"
    script("home/lib/tones.saft", asking)
    script("home/use.saft", "from lib.tones import read\nf own(mail: string): ret read(mail)\n")
    target = "home/use.saft:own" if imported else "home/lib/tones.saft:read"
    ended = saftc("map", target, "mails.csv", "out")
    assert (ended.code, Path("out").exists()) == (2, False)
    assert "home/lib/tones.saft:1:1: the top level of a mapped script runs in" in ended.err


def test_mistakes_are_those_of_check(saftc: Command, script: Script) -> None:
    script("home/triage.saft", "f triage(mail: string) -> string:\n    ret male\n")
    ended = saftc("map", "home/triage.saft:triage", "mails.csv", "out")
    assert ended.code == 2 and ended.err.startswith("error[SAFT0203]: unknown name `male`")


# Tables as people have them, and what is written


def read_csv(*options: str, saftc: Command) -> tuple[int, list[object], str]:
    ended = saftc("map", "home/triage.saft:list", "t.csv", "out", "--columns", "none", *options)
    return ended.code, [row["result"] for row in rows("out/part-*")], ended.err


@pytest.mark.parametrize(
    ("data", "options", "found"),
    [
        (b"id;mail\n1;a,b\n", ["--delimiter", ";"], ["a,b"]),
        (b"id\tmail\n1\ta\n", ["--delimiter", "\\t"], ["a"]),
        (b"id\tmail\n1\ta\n", ["--delimiter", "tab"], ["a"]),
        ("mail\nÄ\n".encode("cp1252"), ["--encoding", "cp1252"], ["Ä"]),
        ("mail\nÄ\n".encode("utf-8-sig"), [], ["Ä"]),
        ("mail\nÄ\n".encode("utf-8-sig"), ["--encoding", "utf-8"], ["Ä"]),
        ("mail\nÄ\n".encode("utf-16"), [], ["Ä"]),
        ("id|mail\n1|Ä\n".encode("utf-16"), ["--delimiter", "|"], ["Ä"]),
    ],
)
def test_delimiters_and_encodings(
    data: bytes, options: list[str], found: list[str], saftc: Command
) -> None:
    Path("t.csv").write_bytes(data)
    assert read_csv(*options, saftc=saftc)[:2] == (0, found)


@pytest.mark.parametrize(
    ("data", "options", "told"),
    [
        (b"id;mail\n1;a\n", [], "its values are separated by `;`: use --delimiter ';'"),
        (b"id\tmail\n1\ta\n", [], "separated by `\\t`: use --delimiter '\\t'"),
        (b"mail\na\n\xff\n", [], "it is not UTF-8 text (line 3); --encoding names another enc"),
        (b"mail\na\n", ["--encoding", "utf-9"], "there is no encoding 'utf-9'"),
        (b"mail\na\n", ["--encoding", "base64"], "there is no encoding 'base64'"),
        (b"mail\na\n", ["--delimiter", ";;"], "delimiter: expected one character, got ';;'"),
        (b"mail\na\n", ["--delimiter", '"'], "delimiter: expected one character"),
    ],
)
def test_tables_that_are_read_in_another_way(
    data: bytes, options: list[str], told: str, saftc: Command
) -> None:
    Path("t.csv").write_bytes(data)
    code, _, err = read_csv(*options, saftc=saftc)
    assert (code, told in err, Path("out").exists()) == (2, True, False), err


@pytest.mark.parametrize("line", ["[", '{"mail": NaN}', "[1]"])
def test_json_lines_that_are_none_are_said_by_their_first(line: str, saftc: Command) -> None:
    Path("t.jsonl").write_text(f"{line}\n" * 3)
    ended = saftc("map", "home/triage.saft:list", "t.jsonl", "out")
    assert ended.code == 2 and ended.err.startswith("saftc: t.jsonl:1: "), ended.err


NOTES = """\
type Note(text: string, tags: [string], score: float?)

f note(mail: string) -> Note:
    ret Note(mail, [mail, "x"], nil)
"""


@pytest.mark.parametrize("options", [["--csv"], ["--format", "csv"]])
def test_results_as_csv(options: list[str], saftc: Command, script: Script) -> None:
    script("home/notes.saft", NOTES)
    script("mails.csv", 'id,mail\n1,"a ""b"", c"\n2,"d\ne"\n')
    ended = saftc("map", "home/notes.saft:note", "mails.csv", "out", *options)
    assert ended.code == 0, ended.err
    with open("out/part-000000.csv", encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    first = {"row": "0", "id": "1", "mail": 'a "b", c', "text": 'a "b", c', "score": ""}
    assert found[0] == {**first, "tags": json.dumps(['a "b", c', "x"])}
    assert [row["text"] for row in found] == ['a "b", c', "d\ne"]
    both = ("--csv", "--format", "jsonl")
    assert saftc("map", "home/notes.saft:note", "mails.csv", "other", *both).code == 2


def test_the_summary_as_json(saftc: Command) -> None:
    job = ("map", "home/triage.saft:triage", "mails.csv", "out", "--json")
    ended = saftc(*job, "--set", "least=3")
    found = json.loads(ended.out)
    assert (ended.code, ended.err) == (1, "")
    assert found.pop("seconds") >= 0
    assert found == {
        **{"rows": 2, "done": 1, "failed": 1, "failures": {"AssertionError": 1}, "waiting": 0},
        **{"left": 0, "stopped": None, "budget_spent": False, "cost": None, "requests": 1},
        **{"input_tokens": found["input_tokens"], "output_tokens": found["output_tokens"]},
    }
    ended = saftc("map", *job[1:3], "other", "--json", "--budget-requests", "1")
    found = json.loads(ended.out)
    assert (ended.code, found["budget_spent"], found["left"]) == (5, True, 1)


def test_a_cost_budget_needs_a_price(saftc: Command, script: Script) -> None:
    job = ("map", "home/triage.saft:triage", "mails.csv", "out")
    checked = saftc(*job, "--check", "--budget-cost", "0.01", "--model", "good-1")
    assert (checked.code, "found nothing wrong" in checked.err) == (2, False)
    assert "budget_cost: there is no price of the model good-1; the project" in checked.err
    assert not Path("out").exists()
    for function in ("home/triage.saft:list", "home/chosen.saft:chosen"):
        script("home/chosen.saft", 'f chosen(mail: string): ret $ {mail} $ with {model: "x"}\n')
        checked = saftc("map", function, *job[2:], "--check", "--budget-cost", "0.01")
        assert checked.code == 0, checked.err


def test_how_the_job_went_as_run_shows_it(
    saftc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("USAGE", "TIMELINE", "VERBOSE"):
        monkeypatch.setenv(f"SAFT_{name}", "")  # and put back as it was
    job = ("map", "home/triage.saft:triage", "mails.csv", "out")
    ended = saftc(*job, "--usage", "--verbose", "--timeline", "page.html")
    assert ended.code == 0 and "2 prompts: 2 requests, " in ended.err
    assert "convert" in ended.err, "what was sent"
    assert "triage.saft:7" in Path("page.html").read_text(encoding="utf-8")
    ended = saftc(*job[:3], "other", "--timeline", "page.html", "--workers", "2")
    assert (
        ended.code == 2 and "`saftc trace other/job.db --timeline FILE` draws the job" in ended.err
    )


# Rows that are retried


def test_failed_rows_are_asked_by_an_edited_script(saftc: Command, script: Script) -> None:
    job = ("map", "home/triage.saft:triage", "mails.csv", "out")
    assert saftc(*job, "--set", "least=3").code == 1
    script("home/triage.saft", TRIAGE.replace("len(mail) > least", "len(mail) > 0"))
    ended = saftc(*job, "--set", "least=3")
    assert ended.code == 2 and "a different script; it has 1 part that stays" in ended.err
    assert "`--retry-failed` runs the failed and the remaining rows" in ended.err
    ended = saftc(*job, "--set", "least=3", "--retry-failed")
    assert ended.code == 0, ended.err
    assert "1 failed row (1) and the remaining rows run with another script" in ended.err
    assert [row["title"] for row in rows("out/part-*")] == ["HELLO", "HI"]
    assert not list(Path("out").glob("errors-*"))
    again = saftc(*job, "--set", "least=3")
    assert again.code == 0 and "2 done; 2 requests" in again.err
    script("home/triage.saft", TRIAGE.replace("length: int", "size: int"))
    ended = saftc(*job, "--set", "least=3", "--retry-failed")
    assert ended.code == 2 and "a different script, type of its result" in ended.err


def test_a_recording_answers_rows(saftc: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ROOT / "examples"
    monkeypatch.delenv("SAFT_PROVIDER")
    job = (f"{folder}/mails.saft:triage", f"{folder}/mails/mails.csv", "out", "--limit", "5")
    recording = f"{folder}/recordings/mails.jsonl"
    ended = saftc("map", *job, "--replay", recording, "--provider", "unset", "--columns", "id")
    assert ended.code == 0, ended.err
    assert close(recording) == []
    told = [f"{row['id']}: {row['category']}, {row['summary']}" for row in rows("out/part-*")]
    assert told == (folder / "recordings/mails.txt").read_text("utf-8").splitlines()


def test_a_request_that_is_not_recorded_ends_the_job(saftc: Command, script: Script) -> None:
    job = ("map", "home/triage.saft:triage", "mails.csv")
    assert saftc(*job, "first", "--record", "answers.jsonl").code == 0
    script("mails.csv", "id,mail\n1,hello\n2,new\n3,newer\n")
    ended = saftc(*job, "out", "--replay", "answers.jsonl")
    assert (ended.code, ended.err.count("has no such request")) == (1, 1), ended.err
    assert re.search("^saftc: stopped: ReplayMiss: the recording .*jsonl has", ended.err, re.M)
    assert "add `--record answers.jsonl` to record what is missing" in ended.err
    assert "failed" not in ended.err and not list(Path("out").glob("errors-*"))
    both = ("--replay", "answers.jsonl", "--record", "answers.jsonl")
    assert saftc(*job, "out", *both).code == 0


@pytest.mark.heavy
@pytest.mark.local_model
@pytest.mark.skipif(not is_available(), reason="needs the extra `local` and weights")
def test_the_embedded_model_answers_rows(saftc: Command) -> None:
    folder = ROOT / "examples"
    job = (f"{folder}/mails.saft:triage", f"{folder}/mails/mails.csv", "out", "--limit", "3")
    ended = saftc("map", *job, "--provider", "local")
    assert ended.code == 0, ended.err
    assert {row["category"] for row in rows("out/part-*")} <= {"billing", "bug", "question"}


@pytest.mark.heavy
@pytest.mark.one_python
@pytest.mark.skipif(os.name == "nt", reason="signals of a terminal")
@pytest.mark.parametrize("options", [[], ["--workers", "2"]], ids=["one process", "workers"])
def test_an_interrupted_job_goes_on(folder: Path, options: list[str]) -> None:
    rows = "".join(f"{number},mail {number}\n" for number in range(30))
    (folder / "many.csv").write_text(f"id,mail\n{rows}")
    job = ["map", "home/triage.saft:list", "many.csv", "out", "--rows-at-once", "2", *options]
    (folder / "home/triage.saft").write_text(
        "f list(mail: string) -> string: ret $ Read {mail} $\n"
    )
    with FakeServer() as server:
        settings = {"SAFT_BASE_URL": server.url, "SAFT_MODEL": "fake", "SAFT_PROVIDER": "openai"}
        environment = {**os.environ, **settings, "PYTHONPATH": str(ROOT)}
        numbers, started = count(1), SimpleQueue[int]()

        def interrupt(body: dict[str, Any]) -> Answer:
            # As a terminal does: all processes of the command get it.
            if next(numbers) == 10:
                os.killpg(started.get(), signal.SIGINT)
            return server.answers[0]

        def start() -> subprocess.Popen[str]:
            return subprocess.Popen(
                [sys.executable, "-m", "saftc", *job],
                env=environment,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )

        server.responder = interrupt
        process = start()
        started.put(process.pid)
        told = process.communicate()[1]
        assert process.returncode == 130, told
        assert "run the same command again" in told and "Traceback" not in told
        process = start()
        told = process.communicate()[1]
        assert process.returncode == 0, told
        assert "30 rows: 30 done; 30 requests" in told
        assert len(server.requests) == 30
