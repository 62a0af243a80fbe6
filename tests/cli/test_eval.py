"""`saftc eval`: the score of a function on labelled rows, and what changed since the last run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command

Script = Callable[[str, str], Path]

TRIAGE = """\
type Bill(total: int, due: date?)

f topic(mail: string) -> "billing" | "bug" | "other":
    if mail == "broken":
        fail "it cannot be read"
    ret "billing" if "invoice" in mail else "bug"

f asked(mail: string) -> "billing" | "bug" | "other":
    ret $ What is this mail about? {mail} $

f total(mail: string) -> int:
    ret len(mail)

f bill(mail: string) -> Bill:
    ret Bill(len(mail), nil)

f near(found: int, expected: int) -> float:
    ret 1.0 if found == expected else 0.5

f same(found: int, expected: int) -> bool:
    ret found == expected

f loud(mail: string) -> string:
    ret upper(mail)
"""
CASES = "mail,label\nthe invoice,billing\nit crashes,bug\na plan,other\n"
ASKED = ("eval", "triage.saft:asked", "cases.csv", "--expect", "label")
EVAL = ("eval", "triage.saft:topic", "cases.csv", "--expect", "label")


@pytest.fixture(autouse=True)
def cases(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    script("triage.saft", TRIAGE)
    script("cases.csv", CASES)
    monkeypatch.setenv("SAFT_PROVIDER", "mock")


def data(text: str) -> list[dict[str, Any]]:
    return json.loads(text)["models"]


def test_where_nothing_can_be_kept_is_an_error(saftc: Command, script: Script) -> None:
    script(".saft", "a file where the folder would be")
    ended = saftc(*EVAL)
    assert (ended.code, ended.err) == (1, "saftc: .saft: File exists\n")


def test_the_score_what_is_wrong_and_the_labels(saftc: Command) -> None:
    ended = saftc(*EVAL)
    assert ended.code == 0
    lines = ended.out.split("\n")
    assert lines[0] == "cases.csv: 3 rows"
    assert re.fullmatch(r"mock   66.7% \(2 of 3\)  0       0         \$0    [\d.]+ s", lines[2])
    assert lines[3:] == [
        "",
        "mock: 1 not right",
        "  row 2: bug, expected other",
        "    a plan",
        "",
        r"expected \ found  billing  bug  other",
        "billing           1        0    0",
        "bug               0        1    0",
        "other             0        1    0",
        "",
    ]


def test_a_score_that_is_too_low_is_an_error(saftc: Command) -> None:
    assert saftc(*EVAL, "--at-least", "0.6").code == 0
    ended = saftc(*EVAL, "--at-least", "0.9")
    assert ended.code == 1
    assert "mock: 66.7% (2 of 3) is below 90.0%" in ended.err
    assert saftc(*EVAL, "--at-least", "60%").code == 0
    scored = ("eval", "triage.saft:total", "numbers.csv", "--expect", "label", "--score", "near")
    Path("numbers.csv").write_text("mail,label\naaaa,4\n")
    assert saftc(*scored, "--at-least", "2").code == 1


@pytest.mark.parametrize("text", ["90", "-1", "nan", "x", "101%"])
def test_a_minimum_that_no_score_has(text: str, saftc: Command) -> None:
    ended = saftc(*EVAL, f"--at-least={text}")
    said = " ".join(re.findall(r"[^\s│]+", ended.err))
    assert ended.code == 2
    assert f"--at-least: expected a number from 0 to 1, or a share as 90%, got '{text}'" in said
    assert ("did you mean 90%?" in said) == (text == "90")


def test_a_row_that_fails_is_wrong_and_says_why(saftc: Command, script: Script) -> None:
    script("cases.csv", f"{CASES}broken,bug\n")
    ended = saftc(*EVAL)
    assert "50.0% (2 of 4)  1 " in ended.out
    assert "  row 3: Failed: it cannot be read\n    broken\n" in ended.out
    (one,) = data(saftc(*EVAL, "--json").out)
    assert (one["score"], one["failed"]) == (0.5, 1)
    assert one["results"][3]["error"] == "Failed: it cannot be read"
    assert [row["input"] for row in one["results"][2:]] == [{"mail": "a plan"}, {"mail": "broken"}]
    assert one["confusion"] == [
        *(["billing", "billing", 1], ["bug", "bug", 1], ["other", "bug", 1]),
    ]


@pytest.mark.parametrize(
    ("function", "column", "options", "score"),
    [
        ("total", "4\n5\n", (), 0.5),
        ("total", "4\n5\n", ("--score", "same"), 0.5),
        ("total", "4\n5\n", ("--score", "near"), 0.75),
        ("loud", "AAAA\nBBBB\n", (), 1.0),
    ],
)
def test_values_are_compared_as_the_table_reads_them(
    saftc: Command,
    script: Script,
    function: str,
    column: str,
    options: tuple[str, ...],
    score: float,
) -> None:
    first, second, _ = column.split("\n")
    script("cases.csv", f"mail,label\naaaa,{first}\nbbbb,{second}\n")
    target = f"triage.saft:{function}"
    ended = saftc("eval", target, "cases.csv", "--expect", "label", "--json", *options)
    assert [one["score"] for one in data(ended.out)] == [score], ended.err


def test_records_are_compared_as_a_whole(saftc: Command, script: Script) -> None:
    due = {"total": 4, "due": None}
    rows = [{"mail": "aaaa", "label": due}, {"mail": "bbbbb", "label": due}]
    script("cases.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    ended = saftc("eval", "triage.saft:bill", "cases.jsonl", "--expect", "label", "--json")
    assert [row["score"] for row in data(ended.out)[0]["results"]] == [1.0, 0.0], ended.err


def test_models_stand_side_by_side(saftc: Command) -> None:
    asked = (*ASKED, "--models", " small, large,")
    ended = saftc(*asked)
    assert re.findall(r"^(\w+) +[\d.]+% \(\d of 3\)  0       3 ", ended.out, re.M) == [
        *("small", "large"),
    ]
    assert [one["model"] for one in data(saftc(*asked, "--json").out)] == ["small", "large"]


def test_what_has_changed_since_the_last_run(saftc: Command, script: Script) -> None:
    assert "since" not in saftc(*EVAL).out
    assert re.search(r"since [\d: -]+: the same script, table and models\n\Z", saftc(*EVAL).out)
    script("triage.saft", TRIAGE.replace('"bug"\n\nf asked', '"other"\n\nf asked'))
    told = saftc(*EVAL).out.split("since")[1]
    assert re.fullmatch(
        r" [\d: -]+: another script\n"
        r"  mock, row 1 is worse: other, expected bug\n"
        r"  mock, row 2 is better: other\n",
        told,
    )
    script("cases.csv", CASES.replace("a plan", "plans"))
    assert saftc(*EVAL).out.split("since")[1].endswith(": another table\n")
    told = saftc(*EVAL, "--models", "large").out.split("since")[1]
    assert told.endswith(": another model (it was mock)\n")
    assert Path(".saft/.gitignore").read_text() == "*\n"
    assert not list(Path(".saft").glob("*/"))


def test_recorded_answers_cost_nothing(saftc: Command) -> None:
    asked = (*ASKED, "--models", "a,b")
    recorded = saftc(*asked, "--json", "--record", "cases.jsonl")
    assert recorded.code == 0, recorded.err
    Path("kept.jsonl").write_bytes(Path("cases.jsonl").read_bytes())
    replayed = saftc(*asked, "--json", "--provider", "mock", "--replay", "kept.jsonl")
    assert replayed.code == 0, replayed.err
    before, after = ([one["results"] for one in data(run.out)] for run in (recorded, replayed))
    assert before == after


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("triage.saft:topc cases.csv --expect label", "no function `topc`; did you mean `topic`?"),
        ("triage.saft:topic cases.csv --expect lable", "no column `lable`; did you mean `label`?"),
        (
            "triage.saft:total cases.csv --expect label --score ner",
            "no function `ner`; did you mean `near`?",
        ),
        (
            "triage.saft:topic cases.csv --expect label --score loud",
            "--score: `loud` has 1 parameter, and takes two; what was found, and what is expected",
        ),
        ("triage.saft:near cases.csv --expect label", "cases.csv has no column `found`"),
        ("triage.saft:topic none.csv --expect label", "cannot read none.csv"),
        (
            "triage.saft:topic cases.csv --expect nosuch",
            "saftc: cases.csv has no column `nosuch`; its columns are mail, label\n",
        ),
        ("triage.saft:topic empty.csv --expect label", "empty.csv has no rows"),
        ("triage.saft:topic bare.csv --expect label", 'got string ""'),
        ("triage.saft:loud bare.csv --expect label", "bare.csv has no expected values"),
        ("triage.saft:total cases.csv --expect label", "saftc: cases.csv:2: label: expected int"),
        ("triage.saft:topic cases.csv", "Missing option '--expect'"),
    ],
)
def test_what_cannot_be_evaluated_is_told(
    saftc: Command, script: Script, arguments: str, said: str
) -> None:
    script("empty.csv", "mail,label\n")
    script("bare.csv", "mail,label\na,\nb,\n")
    ended = saftc("eval", *arguments.split())
    assert ended.code == 2
    assert said in ended.err


def test_a_budget_that_is_spent_ends_it(saftc: Command) -> None:
    asked = ASKED
    ended = saftc(*asked, "--budget-requests", "1")
    assert (ended.code, ended.out) == (5, "")
    assert "mock stopped: " in ended.err
    assert len(list(Path(".saft").glob("*/job.db"))) == 1
    resumed = saftc(*asked, "--json", "--budget-requests", "3")
    assert resumed.code == 0, resumed.err  # one of the three was sent before
    assert len(data(resumed.out)[0]["results"]) == 3
    assert not list(Path(".saft").glob("*/job.db"))


def test_a_budget_bounds_all_models_together(saftc: Command) -> None:
    asked = (*ASKED, "--models", "a,b,c")
    ended = saftc(*asked, "--budget-requests", "4")
    assert (ended.code, ended.out) == (5, "")
    assert "b stopped: BudgetSpent: " in ended.err
    assert re.search(r"budget is for all models; a: 3 requests, .*; b: 1 request, ", ended.err)
    assert len(list(Path(".saft").glob("*/job.db"))) == 2, "what the first was answered is kept"
    assert saftc(*asked, "--budget-requests", "8").code == 5
    resumed = saftc(*asked, "--json", "--budget-requests", "9")
    assert [one["requests"] for one in data(resumed.out)] == [3, 3, 3], resumed.err
    assert not list(Path(".saft").glob("*/"))


def test_a_request_that_is_not_recorded_is_one_error(saftc: Command, script: Script) -> None:
    assert saftc(*ASKED, "--record", "answers.jsonl").code == 0
    told = Path(".saft").glob("eval-*.json")
    (before,) = [one.read_text() for one in told]
    script("triage.saft", TRIAGE.replace("What is this", "Tell me what is this"))
    for function in ((), ("--models", "a,b")):
        ended = saftc(*ASKED, *function, "--replay", "answers.jsonl")
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.count("has no such request") == 1
        assert ended.err.count("+ What is") + ended.err.count("Tell me what") == 1, ended.err
        assert "add `--record answers.jsonl` to record what is missing" in ended.err
        assert [one.read_text() for one in Path(".saft").glob("eval-*.json")] == [before]


def test_lists_and_texts_are_bounded(saftc: Command, script: Script) -> None:
    long = "the invoice " + "x" * 500
    script("cases.csv", "mail,label\n" + f"{long},bug\n" * 30)
    script("triage.saft", TRIAGE.replace('"invoice" in mail', "false"))
    assert saftc(*EVAL).code == 0
    script("triage.saft", TRIAGE)
    ended = saftc(*EVAL)
    wrong, worse = ended.out.split("since")
    assert "\n  ... and 10 more, which --json has\n" in wrong
    assert worse.count("is worse: billing, expected bug\n") == 20
    assert worse.endswith("  ... and 10 more, which --json has\n")
    assert max(map(len, ended.out.split("\n"))) < 220


def test_nothing_is_counted_where_all_rows_fail(saftc: Command, script: Script) -> None:
    script("cases.csv", "mail,label\nbroken,bug\nbroken,bug\n")
    ended = saftc(*EVAL)
    assert "0.0% (0 of 2)" in ended.out and "expected \\ found" not in ended.out


def test_a_cost_without_a_price_is_unknown(
    saftc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = (*ASKED, "--models", "a,b")
    Path("pyproject.toml").write_text(
        '[tool.saft.prices]\na = { input = 1.0, output = 1.0 }\n', encoding="utf-8"
    )
    priced, unpriced = (line for line in saftc(*asked).out.split("\n")[2:4])
    assert re.search(r"  3         \$0\.0\d+ ", priced) and "  3         unknown " in unpriced
    first, second = data(saftc(*asked, "--json").out)
    assert first["cost"] > 0 and second["cost"] is None
