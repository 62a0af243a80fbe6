"""`saftc check --bounds` and `--bound`, and what other commands tell of bounds."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command

pytestmark = pytest.mark.one_python

SCRIPT = """\
f triage(mail: string) -> string:
    ret $ What is {mail} about? $

f main():
    for path in list_files("*.txt"):
        print(triage(path))
    print($ All done? $)
"""
TABLE = """\
requests for replies, at most, with max_repairs 1, max_tool_rounds 8, max_tool_calls 32;
each may be sent again, x (1 + max_retries 2), after a 429 or a broken connection,
plus a few one-time requests that probe what the server supports

mail.saft
  triage(mail)  <= 2                             1 + 1 repair
  main()        <= 2 * len(list_files("*.txt")) + 2
    line 5      <= 2 * len(list_files("*.txt"))  for each of list_files("*.txt"): `triage` 2
    line 7      <= 2                             1 + 1 repair
"""


@pytest.fixture(autouse=True)
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mail.saft"
    path.write_text(SCRIPT)
    return path


def test_the_table(saftc: Command) -> None:
    done = saftc("check", "--bounds", "mail.saft")
    assert (done.code, done.out) == (0, TABLE)
    assert done.err == "1 file checked, nothing to report\n"
    Path("none.saft").write_text("print(1)\n")
    assert saftc("check", "--bounds", "none.saft").out.endswith("\nnone.saft: sends no requests\n")


def test_the_settings_of_a_run_count(saftc: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pyproject.toml").write_text("[tool.saft]\nmax_repairs = 0\nbudget_requests = 70\n")
    told = saftc("check", "--bounds", "mail.saft").out
    assert "triage(mail)  <= 1 " in told and "with max_repairs 0," in told
    assert "a run         <= 70 " in told
    assert told.endswith(" its budget (`budget_requests`) ends it\n")
    assert saftc("check", "--bound", "70", "mail.saft").code == 0
    monkeypatch.setenv("SAFT_MAX_REPAIRS", "many")
    done = saftc("check", "--bounds", "mail.saft")
    assert done.code == 1 and "SAFT_MAX_REPAIRS: expected an int" in done.err


def test_json(saftc: Command) -> None:
    done = saftc("check", "--bounds", "--format", "json", "mail.saft")
    told = json.loads(done.out)
    assert told["diagnostics"] == []
    (bounds,) = told["bounds"]
    assert bounds["file"] == "mail.saft" and bounds["settings"]["max_tool_rounds"] == 8
    first, second = bounds["functions"]
    assert (first["name"], first["most"], first["number"], first["line"]) == ("triage", "2", 2, 1)
    assert (second["most"], second["number"]) == ('2 * len(list_files("*.txt")) + 2', None)
    loop, last = second["parts"]
    assert (loop["line"], loop["parts"][0]["number"], last["words"]) == (5, 2, "1 + 1 repair")
    assert bounds["program"]["name"] == "main"
    done = saftc("check", "--bounds", "--format", "sarif", "mail.saft")
    assert done.code == 2 and "--bounds can be text or json, not sarif" in done.err


@pytest.mark.parametrize("format", ["text", "json", "sarif", "github"])
def test_too_many(saftc: Command, script: Path, format: str) -> None:
    script.write_text("print($ a $)\nprint($ b $)\n")
    assert saftc("check", "--bound", "4", "mail.saft", "--format", format).code == 0
    done = saftc("check", "--bound", "3", "mail.saft", "--format", format)
    assert done.code == 1
    assert "this script may send 4 requests, and 3 are allowed" in done.out
    assert "line 2   <= 2  1 + 1 repair" in done.out


def test_what_is_wrong_is_told_first(saftc: Command, script: Path) -> None:
    script.write_text("print(x)\n")
    done = saftc("check", "--bounds", "--bound", "3", "mail.saft")
    assert done.code == 1 and "SAFT0203" in done.out and "SAFT0430" not in done.out


def test_a_prompt(saftc: Command) -> None:
    told = json.loads(saftc("prompts", "mail.saft", "--format", "json").out)
    assert told[0]["requests"] == {"most": "2", "words": "1 + 1 repair"}


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("$ about {mail} $", "sends at most 6 requests, 2 for each row"),
        ('$ {mail} $ with {model: "other"}', "sends at most 6 requests, 2 for each row"),
        ("each(mail)", "sends at most 6 * len(split(mail)) requests, 2 * len(split(mail)) for"),
        ("turns(mail)", "may send any number of requests: line 8: `while` repeats an"),
    ],
)
def test_a_job(
    saftc: Command, script: Path, monkeypatch: pytest.MonkeyPatch, prompt: str, told: str
) -> None:
    script.write_text(
        f"f go(mail: string) -> string:\n    ret {prompt}\n\n"
        "f each(m: string) -> string:\n    ret join([$ {w} $ for w in split(m)])\n\n"
        'f turns(m: string) -> string:\n    while $ on? $:\n        print(m)\n    ret "x"\n'
    )
    Path("mails.csv").write_text("mail\na\nb\nc\n")
    Path("pyproject.toml").write_text('[tool.saft.prices.m]\ninput = 1.0\noutput = 2.0\n')
    for name, value in (("PROVIDER", "mock"), ("MODEL", "m"), ("MAX_TOKENS", "100")):
        monkeypatch.setenv(f"SAFT_{name}", value)
    done = saftc("map", "mail.saft:go", "mails.csv", "out", "--check")
    _, *lines = done.err.splitlines()
    assert lines[0].startswith(f"it {told}")
    assert (len(lines) == 2) == ("about" in prompt)
    if len(lines) == 2:
        assert lines[1].startswith("the replies cost at most $0.0012, by the price of m and ")
