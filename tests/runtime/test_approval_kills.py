"""Runs that wait for approval, killed at all places: nothing is asked of a person twice, nothing is
done twice or without a yes, and a call in doubt stops the run.

APPROVAL_KILLS=300 pytest -s -m slow tests/runtime/test_approval_kills.py     so many, at random
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from runtime_support import (
    Decision,
    JournalError,
    PendingCall,
    Reply,
    Request,
    RunWaiting,
    approve,
    configure,
    overlap,
    prompt,
)
from runtime_support._core.messages import ToolRequest
from runtime_support._journal.journal import entries as rows
from runtime_support._journal.journal import is_journal
from runtime_support.programs import program
from runtime_support.runs import decide, journaled, settle, waiting_calls

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.one_python,
]

ENDED, WAITING, IN_DOUBT, FAILED, KILLED = 0, 4, 5, 6, -9

# What each refund comes to, and what the run itself does: `c` is refused, of `g` less is paid.
PAID = {**dict.fromkeys("abde", "5.0"), **dict.fromkeys("fhi", "1.0"), "g": "0.5"}


def calls(*orders: str, amount: float = 1) -> Reply:
    wanted = [json.dumps({"order": order, "amount": amount}) for order in orders]
    return Reply("", tuple(ToolRequest("refund", one) for one in wanted), finish="tool_calls")


class Model:
    """Says the same whenever it is asked the same."""

    def complete(self, request: Request) -> Reply:
        first = str(request.messages[0]["content"])
        turn = sum(one["role"] == "assistant" for one in request.messages)
        match first.split()[0], turn:
            case "one", 0:
                two = calls("a", "b", amount=5).tool_calls
                look = ToolRequest("look", '{"order": "a"}')
                return Reply("", (two[0], look, two[1]), finish="tool_calls")
            case "one", 1:
                return calls("c", amount=500)
            case "two", _:
                refunds = [{"refund": {"order": one, "amount": 5}} for one in "de"]
                return Reply(json.dumps([{"look": {"order": "d"}}, *refunds]))
            case "three", 0:
                return calls(first.split()[1])
            case "four", 0:
                return Reply("", (ToolRequest("handle", '{"order": "i"}'),), finish="tool_calls")
            case "inner", 0:
                return calls("i")
            case _:
                return Reply(f"{first.split()[0]} is done")


def policy(order: str) -> Decision:
    """What a person says about a refund."""
    if order == "c":
        return Decision.no("above the limit", "ada")
    if order == "g":
        return Decision.changed({"order": "g", "amount": 0.5}, "ada")
    return Decision.yes("ada")


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


class Death:
    """Where a process kills itself: the nth time that it comes to a place."""

    def __init__(self, place: str, count: int) -> None:
        self.place = place
        self.left = count

    def reach(self, place: str) -> None:
        if place == self.place:
            self.left -= 1
            if self.left == 0:
                die()

    def prepare(self) -> None:
        """Counts what is added to journals, in the middle of a transaction and behind it."""
        connect, death = sqlite3.connect, self

        class Dying(sqlite3.Connection):
            def executemany(self, query: str, rows: Any, /) -> sqlite3.Cursor:
                done = super().executemany(query, rows)
                death.reach("torn")
                return done

            def execute(self, query: str, *values: Any) -> sqlite3.Cursor:
                done = super().execute(query, *values)
                if query == "commit" or query.startswith("insert"):
                    death.reach("write")
                return done

        def connected(*arguments: Any, **named: Any) -> sqlite3.Connection:
            return connect(*arguments, **named, factory=Dying)

        sqlite3.connect = connected  # type: ignore[assignment]


def note(path: Path, text: str) -> None:
    with path.open("ab", buffering=0) as file:
        file.write(f"{text}\n".encode())


def work(folder: Path, death: Death, has_approver: bool) -> None:
    """The run: calls of one reply, a program, calls at the same time, and one inside of another."""

    def refund(order: str, amount: float) -> str:
        death.reach("before")
        note(folder / "effects", f"{order} {amount}")
        death.reach("after")
        return f"refunded {amount}"

    def look(order: str) -> str:
        return f"{order} was late"

    def handle(order: str) -> str:
        death.reach("handle")
        return str(prompt("inner {refund}", refund=approve(refund)).value)

    def lead(call: PendingCall) -> Decision:
        note(folder / "asked", call.key)
        death.reach("asking")
        return policy(str(call.args.get("order")))

    def one(order: str) -> str:
        return str(prompt("three {order:raw} {refund}", order=order, refund=approve(refund)).value)

    asks = {"approver": lead} if has_approver else {}
    with configure(provider=Model(), max_in_flight=4, **asks), journaled(str(folder / "run")):
        seen = [str(prompt("one {refund} {look}", refund=approve(refund), look=look).value)]
        seen += program("two {refund} {look}", refund=approve(refund), look=look).value
        seen += list(overlap(one, ["f", "g", "h"]))
        seen.append(str(prompt("four {handle}", handle=approve(handle)).value))
    assert seen[0] == "one is done" and seen[-1] == "four is done" and len(seen) == 8, seen


def person(folder: Path, death: Death, chance: random.Random) -> None:
    """Decides about some of what waits, as `saftc approve` does, and settles what is in doubt."""
    waiting = waiting_calls(str(folder / "run"))
    death.prepare()
    paid = effects(folder)
    for call in chance.sample(waiting, chance.randint(1, len(waiting))) if waiting else ():
        if call.begun is None:
            order = "" if call.kind == "program" else json.loads(call.question["sent"])["order"]
            decide(call, policy(order))
            continue
        sent = json.loads(call.question["sent"])
        was_paid = call.tool == "refund" and sent["order"] in paid
        settle(call, f"refunded {paid[sent['order']]}" if was_paid else None, "ada")


def effects(folder: Path) -> dict[str, str]:
    lines = (folder / "effects").read_text().split("\n")[:-1]
    counts = Counter(line.split()[0] for line in lines)
    assert set(counts.values()) <= {1}, f"done twice: {lines}"
    return dict(line.split() for line in lines)


def in_child(function: Callable[[], None], folder: Path) -> int:
    """Does it in a process of its own; gives how that has ended."""
    child = os.fork()
    if not child:
        code = FAILED
        try:
            function()
            code = ENDED
        except RunWaiting:
            code = WAITING
        except JournalError as error:
            code = IN_DOUBT if "may or may not have taken effect" in str(error) else FAILED
        finally:
            if code == FAILED:
                note(folder / "errors", traceback.format_exc())
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def decisions(folder: Path) -> dict[str, str]:
    """By place, with the digest, what was decided; nothing of it changes or is decided anew."""
    found: dict[str, str] = {}
    journal = folder / "run"
    for entry in rows(str(journal)) if is_journal(str(journal)) else ():
        if "decided" in entry and "begun" not in entry:
            place = json.dumps([entry["at"], entry["digest"]])
            assert place not in found, f"asked twice: {place}"
            found[place] = entry["decided"]
    return found


PLACES = ("write", "torn", "before", "after", "asking", "handle")


def kill_again_and_again(
    folder: Path, has_approver: bool, death_of: Callable[[int], Death], chance: random.Random
) -> Counter[str]:
    """Kills runs, and people who decide, until a run has ended; gives the kills by their places."""
    kills = Counter[str]()
    (folder / "effects").touch()
    (folder / "asked").touch()
    turn = 0
    while True:
        turn += 1
        assert turn < 400, "no end is in sight"
        death = death_of(turn)
        before, asked = decisions(folder), len((folder / "asked").read_text().splitlines())

        def whole(death: Death = death) -> None:
            death.prepare()
            work(folder, death, has_approver)

        code = in_child(whole, folder)
        assert code != FAILED, (folder / "errors").read_text()
        paid = effects(folder)
        assert paid.items() <= PAID.items(), paid
        if has_approver:
            new = (folder / "asked").read_text().splitlines()[asked:]
            assert len(set(new)) == len(new), "asked twice"
        after = decisions(folder)
        assert after.items() >= before.items(), "a decision is gone"
        allowed = sum(one != "no" for one in after.values())
        assert len(paid) <= allowed + 1, "a program is one decision about two calls"
        match code:
            case 0:
                assert paid == PAID
                return kills
            case -9:
                kills[death.place] += 1
                continue
            case _:
                pass
        # Somebody decides, or has found out what is in doubt; and may be killed at it, too.
        if code == IN_DOUBT:
            assert any(one.begun is not None for one in waiting_calls(str(folder / "run")))
        elif has_approver:
            raise AssertionError("an approver was there")
        deciding = Death(chance.choice(("write", "torn", "none")), chance.randint(1, 3))
        code = in_child(lambda death=deciding: person(folder, death, chance), folder)
        assert code in (ENDED, KILLED), (folder / "errors").read_text()
        kills["deciding"] += code == KILLED
        chance.random()


@pytest.mark.heavy
@pytest.mark.parametrize("has_approver", [False, True], ids=["journal", "approver"])
def test_killed_at_some_places(tmp_path: Path, has_approver: bool) -> None:
    """Each place once or twice, then some writes."""
    places = [("before", 1), ("after", 2), ("handle", 1), ("asking", 2), ("torn", 4), ("after", 1)]
    places += [("write", 2), ("write", 3), ("torn", 7), ("before", 2), ("write", 5)]

    def death_of(turn: int) -> Death:
        return Death(*places[turn - 1]) if turn <= len(places) else Death("none", 1)

    kills = kill_again_and_again(tmp_path, has_approver, death_of, random.Random(7))
    assert kills.total() >= 7, kills


@pytest.mark.slow
def test_killed_at_random(tmp_path: Path) -> None:
    chance = random.Random(os.environ.get("APPROVAL_SEED", "approval"))
    wanted, kills = int(os.environ.get("APPROVAL_KILLS", "300")), Counter[str]()

    def death_of(turn: int) -> Death:
        place = chance.choice(PLACES)
        # Later, they come further.
        most = 4 + turn if place in ("write", "torn") else 4
        return Death(place, chance.randint(1, most))

    runs = 0
    while kills.total() < wanted:
        runs += 1
        folder = tmp_path / str(runs)
        folder.mkdir()
        kills += kill_again_and_again(folder, chance.random() < 0.4, death_of, chance)
    print(f"{kills.total()} kills of {runs} runs: {dict(kills)}")
