"""`saftc run` of a script whose tools wait for approval, and `saftc approve`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.test_journals import Script
from tests.cli.test_journals import new_process as new_process
from tests.support.terminal import read_terminal

ROOT = Path(__file__).parents[2]

DESK = """\
/// Pays money back.
f refund(order: string, amount: float) -> string:
    append_text("paid.txt", f"{order} {amount}\\n")
    ret f"refunded {amount}"

try:
    print($ Ada wants 25 back for "A-17": call {refund:approve}. $)
except error:
    print("caught", error)
print($ Bo wants 3 back for "B-9": call {refund:approve}. $)
"""
FIRST, SECOND = 'refund(order: "A-17", amount: 25.0)', 'refund(order: "B-9", amount: 3.0)'
RUN = ("run", "desk.saft", "--provider", "mock", "--journal", "a.journal")


@pytest.fixture
def waiting(saftc: Command, script: Script) -> Command:
    """A run that waits."""
    script("desk.saft", DESK)
    ended = saftc(*RUN)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == (
        f"saftc: {FIRST} waits for approval, at desk.saft:7:11\n"
        "saftc: `saftc approve a.journal` decides; then run the same command again to resume\n"
    )
    return saftc


def test_what_waits_is_shown(waiting: Command) -> None:
    shown = waiting("approve", "a.journal")
    assert shown.code == 4
    first, second = shown.out.splitlines()
    assert first == FIRST
    id_, place, asked, where = second.split(", ")
    assert id_.startswith("   --call ")
    assert (place, where) == ("at desk.saft:7:11", "in a.journal") and asked.startswith("asked ")
    assert waiting("approve", ".").out == shown.out.replace("a.journal", "./a.journal")
    assert waiting("journals").out.splitlines()[1].split()[4] == "waiting"
    assert f"[1] waits for approval: {FIRST}" in waiting("trace", "a.journal").out
    assert waiting("trace", "a.journal", "--timeline", "a.html").code == 0


def test_the_run_goes_on_with_what_was_decided(waiting: Command) -> None:
    decided = waiting("approve", "a.journal", "--deny", "above the limit", "--decide-only")
    assert (decided.code, decided.out, decided.err) == (0, "", "")
    assert waiting("approve", "a.journal").err == "nothing waits for approval in a.journal\n"
    ended = waiting(*RUN)
    assert (ended.code, ended.out) == (4, "error: not approved: above the limit\n")
    changed = '{"order": "B-9", "amount": 2}'
    assert waiting("approve", "a.journal", "--arguments", changed, "--decide-only").code == 0
    ended = waiting(*RUN)
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "refunded 2.0"
    assert Path("paid.txt").read_text() == "B-9 2.0\n"
    told = waiting("trace", "a.journal").out
    assert f"(above the limit): {FIRST}" in told
    assert f"with other arguments, {changed}: {SECOND}" in told
    assert waiting("journals").out.splitlines()[1].split()[4] == "ok"


def test_wrong_decisions(waiting: Command) -> None:
    both = waiting("approve", "a.journal", "--yes", "--deny", "x")
    assert (both.code, "choose one of --yes, --deny" in both.err) == (2, True)
    assert waiting("approve", "a.journal", "--yes", "--call", "1").code == 2
    odd = waiting("approve", "a.journal", "--arguments", '{"order": "B", "amount": "much"}')
    said = 'saftc: amount: "much" does not fit the schema {"type": "number"}\n'
    assert (odd.code, odd.err) == (1, said)
    assert waiting("approve", "a.journal", "--retry").code == 1
    assert waiting("approve", "nothing.journal", "--yes").code == 1
    assert waiting("approve", "desk.saft").code == 1
    assert not Path("paid.txt").exists()


def test_rows_of_a_table_that_wait(saftc: Command, script: Script) -> None:
    refund = DESK.partition("try:")[0]
    answer = "f answer(mail: string) -> string:\n    ret $ {mail}: call {refund:approve} $\n"
    script("desk.saft", refund + answer)
    script("mails.csv", 'mail\n"25 back for ""A-17"""\n"3 back for ""B-9"""\n')
    mapped = ("map", "desk.saft:answer", "mails.csv", "out", "--provider", "mock")
    ended = saftc(*mapped)
    assert ended.code == 4
    assert "2 rows: 0 done, 2 waiting for approval" in ended.err
    assert "`saftc approve out` decides; then run the same command again to resume" in ended.err
    shown = saftc("approve", "out")
    ids = dict(re.findall(r"--call (\w+), row (\d),", shown.out))
    assert (shown.code, shown.out.count("refund("), sorted(ids.values())) == (4, 2, ["0", "1"])
    first, second = ids
    one = saftc("approve", "out", "--call", second)
    assert (one.code, re.findall(r"--call (\w+)", one.out)) == (4, [second])
    # An id stays that of its call, also when another call is decided.
    assert saftc("approve", "out", "--call", first, "--deny", "not today").code == 4
    again = saftc("approve", "out", "--call", first, "--yes")
    assert (again.code, f"--call {first}: no call with this id waits" in again.err) == (2, True)
    last = saftc("approve", "out", "--yes", "--call", second)
    told = "decided; repeat the command, or the call of a server, to resume\n"
    assert (last.code, last.err) == (0, told)
    ended = saftc(*mapped)
    assert ended.code == 0, ended.err
    assert "2 rows: 2 done" in ended.err
    assert len(Path("paid.txt").read_text().splitlines()) == 1


def test_without_anybody_to_ask(saftc: Command, script: Script) -> None:
    text = DESK.partition("try:")[0] + "print($ greet {1} $)\nprint($ Pay {refund:approve} $)\n"
    script("desk.saft", text)
    ended = saftc("run", "desk.saft", "--provider", "mock")
    # Nothing is asked, and nothing paid, before that is known.
    assert (ended.code, ended.out) == (2, "")
    assert "calls of desk.saft wait for approval: run it at a terminal" in ended.err
    # Python may set an approver, so that only the prompt itself knows.
    script("helper.py", "def one() -> int:\n    return 1\n")
    script("desk.saft", f"from helper import one\n{text}print(one())\n")
    ended = saftc("run", "desk.saft", "--provider", "mock")
    assert (ended.code, ended.out) == (1, "Hello, 1!\n")
    assert "calls of refund wait for approval, and no approver is set" in ended.err


def typed(answers: str, *words: str) -> str:
    """All that the command writes to a terminal, at which somebody types these answers."""
    import pty
    import termios

    ours, theirs = pty.openpty()
    manner = termios.tcgetattr(theirs)
    manner[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, manner)
    os.write(ours, answers.encode())
    settings = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "dumb"}
    process = subprocess.Popen(
        [sys.executable, "-m", "saftc", *words],
        env=settings,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = read_terminal(ours)
    process.wait()
    return written.replace("\r\n", "\n")


@pytest.mark.one_python
@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_at_a_terminal(saftc: Command, script: Script) -> None:
    script("desk.saft", DESK)
    answers = 'sure\nchange\n{\nchange\n{"order": "A"}\nno\ntoo late\nyes\n'
    shown = typed(answers, *RUN[:4])
    assert f"{FIRST}\n  at desk.saft:7:11\n" in shown
    assert "this is not JSON" in shown
    assert "args.amount: missing field" in shown
    assert "error: not approved: too late\n" in shown
    assert shown.endswith("refunded 3.0\n")
    assert Path("paid.txt").read_text() == "B-9 3.0\n"


@pytest.mark.heavy
@pytest.mark.one_python
@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_a_person_puts_it_off_and_decides_later(saftc: Command, script: Script) -> None:
    script("desk.saft", DESK)
    assert "nothing of this run is kept" in typed("later\n", *RUN[:4])
    shown = typed("later\n", *RUN)
    assert "waits for approval, at desk.saft:7:11\n" in shown
    shown = typed("yes\nyes\n", "approve", "a.journal")
    assert "resuming: saftc run desk.saft" in shown
    assert Path("paid.txt").read_text() == "A-17 25.0\nB-9 3.0\n"
