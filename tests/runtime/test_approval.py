"""Calls of tools that wait for a yes: who decides, what the model hears, what is kept."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import date
from pathlib import Path
from threading import Event
from typing import Any, Literal

import pytest

from runtime_support import (
    CheckError,
    ConfigError,
    Decision,
    JournalError,
    PendingCall,
    ProgramError,
    Reply,
    Request,
    RunWaiting,
    approve,
    check,
    configure,
    ops,
    overlap,
    prompt,
)
from runtime_support._core.messages import ToolRequest
from runtime_support._journal.hook import CallRecord
from runtime_support._journal.journal import add
from runtime_support._journal.journal import entries as rows
from runtime_support.map import map_rows
from runtime_support.programs import Plan, Registry, evaluate, program, run
from runtime_support.runs import WaitingCall, journal_scope, journaled, settle, waiting_calls
from runtime_support.runs import decide as saft_decide


def tool(name: str, **arguments: Any) -> ToolRequest:
    return ToolRequest(name, json.dumps(arguments))


class Turns:
    """A model that says at its nth turn what is listed there, however often it is asked."""

    def __init__(self, *turns: str | Sequence[ToolRequest]) -> None:
        self.turns = turns
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        said = self.turns[sum(one["role"] == "assistant" for one in request.messages)]
        if isinstance(said, str):
            return Reply(said)
        return Reply("", tuple(said), finish="tool_calls")

    @property
    def told(self) -> list[str]:
        """What the model was told of its calls."""
        return [one["content"] for one in self.requests[-1].messages if one["role"] == "tool"]


class Desk:
    """The functions, and what they have done."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def refund(self, order: str, amount: float) -> str:
        self.done.append(f"{order} {amount}")
        return f"refunded {amount}"

    def look(self, order: str) -> str:
        self.done.append(f"look {order}")
        return f"{order} was late"


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture(autouse=True)
def nobody() -> Iterator[None]:
    yield
    configure(approver=None, provider=None)


REFUND = tool("refund", order="A-1", amount=5)


def ask(desk: Desk, provider: Turns) -> Any:
    with configure(provider=provider):
        return prompt("Help. {refund} {look}", refund=approve(desk.refund), look=desk.look)


def deciding(*decisions: bool | Decision) -> Callable[[PendingCall], bool | Decision]:
    left = list(decisions)

    def desk_lead(call: PendingCall) -> bool | Decision:
        return left.pop(0)

    return desk_lead


def have_all_approved(desk: Desk) -> list[PendingCall]:
    """Has each call approved that is asked about before anything is done; those calls."""
    asked: list[PendingCall] = []

    def lead(call: PendingCall) -> bool:
        assert desk.done == []
        asked.append(call)
        return True

    configure(approver=lead)
    return asked


# Who decides


def test_a_yes(desk: Desk) -> None:
    asked = have_all_approved(desk)
    result = ask(desk, Turns([REFUND], "done"))
    assert (result.value, desk.done) == ("done", ["A-1 5.0"])
    (call,) = asked
    assert (call.tool, call.args, call.kind) == ("refund", {"order": "A-1", "amount": 5}, "call")
    assert call.shown == 'refund(order: "A-1", amount: 5.0)'
    assert call.place is not None and call.place.startswith("test_approval.py:")


def test_a_no_goes_to_the_model_with_its_reason(desk: Desk) -> None:
    configure(approver=deciding(Decision.no("above the limit"), False))
    provider = Turns([REFUND, REFUND], "done")
    result = ask(desk, provider)
    assert desk.done == []
    assert provider.told == ["error: not approved: above the limit", "error: not approved"]
    assert result.tool_calls[0].error == "not approved: above the limit"


def test_changed_arguments_are_those_of_the_call(desk: Desk) -> None:
    configure(approver=deciding(Decision.changed({"order": "A-1", "amount": 2})))
    provider = Turns([REFUND], "done")
    result = ask(desk, provider)
    assert desk.done == ["A-1 2.0"]
    assert result.tool_calls[0].args == {"order": "A-1", "amount": 2}
    (told,) = provider.told
    assert told == '(approved with other arguments: {"order":"A-1","amount":2})\nrefunded 2.0'


@pytest.mark.parametrize("arguments", [{"order": "A-1"}, {"order": 1, "amount": "x"}])
def test_changed_arguments_are_checked(desk: Desk, arguments: dict[str, Any]) -> None:
    configure(approver=deciding(Decision.changed(arguments)))
    with pytest.raises(ConfigError, match="do not fit `refund`"):
        ask(desk, Turns([REFUND], "done"))
    assert desk.done == []


ODD: Any = Decision
NO_DECISIONS = [None, 1, "yes", "no", {"decided": "yes"}, ODD("maybe"), ODD(True), ODD("changed")]


@pytest.mark.parametrize("said", NO_DECISIONS)
def test_only_a_decision_is_one(desk: Desk, said: Any) -> None:
    def lead(call: PendingCall) -> Any:
        return said

    configure(approver=lead)
    with pytest.raises(ConfigError, match=r"the approver returned|is not a decision"):
        ask(desk, Turns([REFUND], "done"))
    assert desk.done == []


def test_what_an_approver_raises_is_raised(desk: Desk) -> None:
    def lead(call: PendingCall) -> bool:
        raise OSError("the desk is closed")

    configure(approver=lead)
    with pytest.raises(OSError, match="the desk is closed"):
        ask(desk, Turns([REFUND], "done"))
    assert desk.done == []


def test_an_approver_may_be_a_coroutine_in_both_forms(desk: Desk) -> None:
    async def lead(call: PendingCall) -> Decision:
        await asyncio.sleep(0)
        return Decision.yes("ada")

    configure(approver=lead)
    ask(desk, Turns([REFUND], "done"))

    async def main() -> None:
        with configure(provider=Turns([REFUND], "done")):
            await prompt.aio("Help. {refund}", refund=approve(desk.refund))

    asyncio.run(main())
    assert desk.done == ["A-1 5.0", "A-1 5.0"]


def test_an_approved_coroutine_is_awaited(desk: Desk) -> None:
    async def pay(order: str) -> str:
        await asyncio.sleep(0)
        desk.done.append(order)
        return "paid"

    async def main() -> None:
        calls = [tool("pay", order="A"), tool("pay", order="B")]
        provider = Turns(calls, "done")
        with configure(provider=provider, approver=deciding(True, True)):
            await prompt.aio("Help. {pay}", pay=approve(pay))
        assert provider.told == ["paid", "paid"]

    asyncio.run(main())
    assert desk.done == ["A", "B"]


def test_without_anybody_to_ask_it_is_an_error_before_the_first_request(desk: Desk) -> None:
    provider = Turns([REFUND], "done")
    with pytest.raises(ConfigError, match="calls of refund wait for approval, and no approver is"):
        ask(desk, provider)
    assert provider.requests == []


def test_only_a_program_says_who_decides(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no option `approver`"):
        prompt("Help.", options={"approver": print})
    with pytest.raises(ConfigError, match="expected a function, got"):
        configure(approver=True)


def test_the_script_itself_calls_the_function(desk: Desk) -> None:
    careful = approve(desk.refund)
    assert careful("A-1", 5) == "refunded 5"
    assert approve(careful) is careful and careful == approve(desk.refund)
    assert careful.__name__ == "refund"
    with pytest.raises(CheckError, match="expected a function, got"):
        approve(5)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]


def test_arguments_that_do_not_fit_are_asked_about_by_nobody(desk: Desk) -> None:
    configure(approver=deciding())
    provider = Turns([tool("refund", order="A-1"), tool("refunds", order="A-1")], "done")
    ask(desk, provider)
    assert desk.done == []
    assert provider.told[0].startswith("error: ")
    assert "there is no tool `refunds`" in provider.told[1]


def test_one_function_is_offered_once(desk: Desk) -> None:
    configure(approver=deciding(), provider=Turns("done"))
    with pytest.raises(CheckError, match="with and without approval"):
        prompt("{refund}", refund=desk.refund, tools=[("refund", approve(desk.refund))])
    with pytest.raises(CheckError, match="`pay` is the same function as `refund`"):
        prompt("{refund} {pay}", refund=approve(desk.refund), pay=desk.refund)


def test_an_approved_function_waits_where_its_type_was_checked(desk: Desk) -> None:
    checked = check(approve(desk.refund), Callable[[str, float], str])
    asked: list[PendingCall] = []
    configure(approver=lambda call: asked.append(call) or Decision.no("why"))
    with configure(provider=Turns([tool("checked", order="A-1", amount=5)], "done")):
        prompt("Help. {checked}", checked=checked)
    assert ([one.tool for one in asked], desk.done) == (["checked"], [])
    bare = check(desk.refund, Callable[[str, float], str])
    with pytest.raises(CheckError, match="is the same function as `checked`"):
        prompt("Help. {checked} {bare}", checked=checked, bare=bare)
    with pytest.raises(CheckError, match="is the same function as `checked`"):
        prompt("Help. {checked} {refund}", checked=checked, refund=desk.refund)


def test_a_conversation_keeps_the_approval(desk: Desk) -> None:
    configure(approver=deciding(False))
    first = ask(desk, Turns("hello"))
    provider = Turns("hello", [REFUND], "done")
    with configure(provider=provider):
        prompt("And now?", after=first, tools=first.tools)
    assert (desk.done, provider.told) == ([], ["error: not approved"])


# Programs


PROGRAM = json.dumps([{"look": {"order": "A-1"}}, {"refund": {"order": "A-1", "amount": 5}}])


def ask_for_program(desk: Desk, provider: Turns, returns: Any = list[str]) -> Any:
    with configure(provider=provider):
        return program(
            "Help. {refund} {look}", refund=approve(desk.refund), look=desk.look, returns=returns
        ).value


def test_a_program_waits_as_a_whole(desk: Desk) -> None:
    asked = have_all_approved(desk)
    assert ask_for_program(desk, Turns(PROGRAM)) == ["A-1 was late", "refunded 5.0"]
    assert [one.kind for one in asked] == ["program"]
    assert asked[0].args == {"program": json.loads(PROGRAM)}


def test_a_program_that_calls_none_of_them_does_not_wait(desk: Desk) -> None:
    configure(approver=deciding())
    assert ask_for_program(desk, Turns('[{"look": {"order": "A-1"}}]')) == ["A-1 was late"]


@pytest.mark.parametrize(
    "hidden",
    [
        {"$if": {"test": False, "then": {"refund": {"order": "A", "amount": 1}}, "else": "x"}},
        {"$map": {"over": ["A"], "as": "o", "do": {"refund": {"order": "A", "amount": 1}}}},
        {"$let": {"bind": {"x": {"refund": {"order": "A", "amount": 1}}}, "in": "y"}},
        {"look": {"order": {"refund": {"order": "A", "amount": 1}}}},
    ],
)
def test_wherever_it_calls_them_it_waits(desk: Desk, hidden: Any) -> None:
    configure(approver=deciding(Decision.no("not today"), Decision.no("not today")))
    provider = Turns(json.dumps(hidden), '"left"')
    assert ask_for_program(desk, provider, Any) == "left"
    assert desk.done == []
    assert "not approved: not today" in str(provider.requests[-1].messages[-1]["content"])


def test_a_refused_program_that_comes_again_is_the_end(desk: Desk) -> None:
    configure(approver=deciding(*[Decision.no("never")] * 3))
    with pytest.raises(ProgramError, match="not approved: never"):
        ask_for_program(desk, Turns(PROGRAM, PROGRAM, PROGRAM, PROGRAM))
    assert desk.done == []


def test_a_plan_waits_when_it_is_run(desk: Desk) -> None:
    configure(approver=deciding(Decision.no("later"), True))
    plan = ask_for_program(desk, Turns(PROGRAM), Plan)
    with pytest.raises(ProgramError, match="not approved: later"):
        run(plan)
    assert desk.done == []
    assert run(plan) == ["A-1 was late", "refunded 5.0"]


def test_without_a_plan_nothing_that_waits_is_called(desk: Desk) -> None:
    outcome = evaluate(json.loads(PROGRAM), Registry([approve(desk.refund), desk.look]))
    assert "refund waits for approval, and the program has none" in str(outcome)
    assert desk.done == ["look A-1"]


# Journals


def entries(journal: Path) -> list[dict[str, Any]]:
    return list(rows(str(journal)))


def run_kept(desk: Desk, journal: Path, *turns: str | Sequence[ToolRequest]) -> tuple[Any, Turns]:
    provider = Turns(*turns)
    with journaled(str(journal)):
        return ask(desk, provider), provider


def decide(journal: Path, at: int, **decision: Any) -> None:
    """Answers the question of that number, as `saftc approve` does."""
    question = [one for one in entries(journal) if "asks" in one and "decided" not in one][at]
    said = {"decided": "yes", "reason": "", "arguments": None, "by": "ada", **decision}
    whole = {name: part for name, part in question.items() if name not in ("at", "schema")}
    add(str(journal), question["at"], {**whole, **said}, lambda: None)


def cut(journal: Path, last: bool, *, after: int) -> None:
    """Leaves of the journal what was there when the first or last approved call began."""
    with closing(sqlite3.connect(journal)) as database, database:
        which = "max" if last else "min"
        query = f"select {which}(id) from entry where data ->> '$.approved'"
        (begun,) = database.execute(query).fetchone()
        database.execute("delete from entry where id >= ?", (begun + after,))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "run.journal"


def test_a_run_with_a_journal_waits_and_goes_on(desk: Desk, journal: Path) -> None:
    turns = ([REFUND], "done")
    with pytest.raises(RunWaiting) as waiting:
        run_kept(desk, journal, *turns)
    shown = 'refund(order: "A-1", amount: 5.0) waits for approval, at test_approval.py:'
    assert str(waiting.value).rpartition(":")[0] + ":" == shown
    assert entries(journal)[-1]["ended"] == "waiting"
    with pytest.raises(RunWaiting):
        run_kept(desk, journal, *turns)
    assert len([one for one in entries(journal) if "asks" in one]) == 1
    decide(journal, 0)
    result, provider = run_kept(desk, journal, *turns)
    assert (result.value, desk.done, len(provider.requests)) == ("done", ["A-1 5.0"], 1)
    _, provider = run_kept(desk, journal, *turns)
    assert (desk.done, provider.requests) == (["A-1 5.0"], [])


def test_an_answer_is_kept_though_the_task_is_cancelled_as_it_comes(
    desk: Desk, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[PendingCall] = []
    answer = CallRecord.answer

    async def main() -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        was_cancelled = Event()

        def answer_late(call: CallRecord, held: Any, decision: Decision) -> None:
            turns = 3  # of the loop: by then, the cancellation has arrived

            def turn() -> None:
                nonlocal turns
                turns -= 1
                loop.call_soon(turn) if turns else was_cancelled.set()

            loop.call_soon_threadsafe(turn)
            was_cancelled.wait()
            answer(call, held, decision)

        monkeypatch.setattr(CallRecord, "answer", answer_late)

        async def lead(call: PendingCall) -> bool:
            asked.append(call)
            task.cancel()
            return True

        with (
            configure(provider=Turns([REFUND], "done"), approver=lead),
            journaled(str(journal)),
        ):
            await prompt.aio("Help. {refund}", refund=approve(desk.refund))

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    asyncio.run(main())
    assert (len(asked), desk.done) == (1, ["A-1 5.0"])


def test_the_calls_of_one_turn_wait_together(desk: Desk, journal: Path) -> None:
    calls = [tool("refund", order=one, amount=5) for one in "ABC"]
    turns = ([calls[0], tool("look", order="B"), calls[1], calls[2]], "done")
    with pytest.raises(RunWaiting):
        run_kept(desk, journal, *turns)
    assert desk.done == []
    waiting = [one["shown"] for one in entries(journal) if "asks" in one]
    assert [one[14:17] for one in waiting] == ['"A"', '"B"', '"C"']
    decide(journal, 1, decided="no", reason="B is paid")
    decide(journal, 2, decided="changed", arguments='{"order": "C", "amount": 1}')
    with pytest.raises(RunWaiting):
        run_kept(desk, journal, *turns)
    decide(journal, 0)
    result, provider = run_kept(desk, journal, *turns)
    assert desk.done == ["A 5.0", "look B", "C 1.0"]
    assert result.tool_calls[3].args == {"order": "C", "amount": 1}
    assert provider.told[2] == "error: not approved: B is paid"
    again, provider = run_kept(desk, journal, *turns)
    assert provider.requests == []
    assert [(one.args, one.result, one.error) for one in again.tool_calls] == [
        (one.args, one.result, one.error) for one in result.tool_calls
    ]


def test_who_decided_and_when_is_in_the_journal(desk: Desk, journal: Path) -> None:
    def head_of_desk(call: PendingCall) -> bool:
        assert [one for one in entries(journal) if "asks" in one]  # it waits, until this ends
        return True

    configure(approver=head_of_desk)
    run_kept(desk, journal, [REFUND], "done")
    (decision,) = [one for one in entries(journal) if "decided" in one]
    assert (decision["decided"], decision["by"]) == ("yes", "head_of_desk")
    assert decision["time"] > 0
    configure(approver=deciding())
    run_kept(desk, journal, [REFUND], "done")
    assert desk.done == ["A-1 5.0"]


def test_a_waiting_run_passes_through_tools_and_except(desk: Desk, journal: Path) -> None:
    def handle(order: str) -> str:
        try:
            provider = Turns([tool("refund", order=order, amount=1)], "inner")
            with configure(provider=provider):
                return str(prompt("Pay {refund}", refund=approve(desk.refund)).value)
        except Exception:
            return "caught"

    def outer() -> Any:
        with journaled(str(journal)), configure(provider=Turns([tool("handle", order="A")], "o")):
            return prompt("{handle}", handle=approve(handle) if is_approved else handle).value

    for is_approved in (False, True):
        journal.unlink(missing_ok=True)
        for _ in range(1 + is_approved):
            with pytest.raises(RunWaiting):
                outer()
            decide(journal, -1)
        assert outer() == "o"
    assert desk.done == ["A 1.0", "A 1.0"]


def test_a_program_of_a_run_waits_and_goes_on(desk: Desk, journal: Path) -> None:
    def whole() -> Any:
        with journaled(str(journal)):
            return ask_for_program(desk, Turns("[1, {", PROGRAM, PROGRAM))

    with pytest.raises(RunWaiting):
        whole()
    decide(journal, 0, decided="no", reason="once more")
    with pytest.raises(RunWaiting):
        whole()
    assert desk.done == []
    decide(journal, 1)
    assert whole() == ["A-1 was late", "refunded 5.0"]
    assert whole() == ["A-1 was late", "refunded 5.0"]
    assert desk.done == ["look A-1", "A-1 5.0"]


def test_a_plan_of_a_run_waits_and_goes_on(desk: Desk, journal: Path) -> None:
    def whole() -> Any:
        with journaled(str(journal)):
            return run(ask_for_program(desk, Turns(PROGRAM), Plan))

    with pytest.raises(RunWaiting):
        whole()
    assert desk.done == []
    decide(journal, 0)
    assert whole() == whole() == ["A-1 was late", "refunded 5.0"]
    assert desk.done == ["look A-1", "A-1 5.0"]


# What runs at the same time


class Answering:
    """A model that asks for a refund of the orders with an `r`, and answers for the others."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def complete(self, request: Request) -> Reply:
        order = str(request.messages[0]["content"]).split()[1]
        if request.messages[-1]["role"] == "tool":
            return Reply(f"{order}: {request.messages[-1]['content']}")
        self.asked.append(order)
        if "r" in order:
            return Reply("", (tool("refund", order=order, amount=1),), finish="tool_calls")
        return Reply(f"{order}: answered")


def overlapped(desk: Desk, journal: Path, orders: list[str]) -> tuple[list[str], Answering]:
    provider = Answering()

    def one(order: str) -> str:
        return prompt("Help {order:raw} {refund}", order=order, refund=approve(desk.refund)).value

    with journaled(str(journal)), configure(provider=provider, max_in_flight=2):
        return list(overlap(one, orders)), provider


def test_calls_that_run_ahead_go_on_to_their_end(desk: Desk, journal: Path) -> None:
    orders = ["a", "br", "c", "dr", *(f"e{number}" for number in range(20)), "fr", "g"]
    with pytest.raises(RunWaiting):
        overlapped(desk, journal, orders)
    kept = [one for one in entries(journal) if "reply" in one]
    assert len(kept) == len(orders)
    assert [one.tool for one in waiting_calls(str(journal))] == ["refund"] * 3
    assert desk.done == []
    first, second, third = sorted(waiting_calls(str(journal)), key=lambda one: one.shown)
    saft_decide(second, Decision.yes("ada"))
    with pytest.raises(RunWaiting):
        overlapped(desk, journal, orders)
    assert desk.done == ["dr 1.0"]
    saft_decide(first, Decision.no("no", "ada"))
    saft_decide(third, Decision.changed({"order": "x", "amount": 2}, "ada"))
    values, provider = overlapped(desk, journal, orders)
    assert provider.asked == []
    assert sorted(desk.done) == ["dr 1.0", "x 2.0"]
    assert values[:4] == ["a: answered", "br: error: not approved: no", "c: answered", values[3]]
    assert len(values) == len(orders) and waiting_calls(str(journal)) == []


def test_people_are_asked_in_the_order_of_the_script(desk: Desk, journal: Path) -> None:
    orders, asked = [f"r{number}" for number in range(8)], list[str]()

    def lead(call: PendingCall) -> bool:
        asked.append(call.args["order"])
        return True

    configure(approver=lead)
    overlapped(desk, journal, orders)
    assert asked == orders


def test_what_waits_for_its_turn_behind_a_call_that_waits_ends(desk: Desk, journal: Path) -> None:
    def one(order: str) -> str:
        text = prompt("Help {order:raw} {refund}", order=order, refund=approve(desk.refund)).value
        ops.input("more? ")  # it has to wait for what is before it
        return str(text)

    with pytest.raises(RunWaiting), journaled(str(journal)), configure(provider=Answering()):
        list(overlap(one, ["ar", "b", "c"]))


def test_in_an_event_loop_the_others_go_on_to_their_end(desk: Desk, journal: Path) -> None:
    async def one(order: str) -> str:
        refund = approve(desk.refund)
        return (await prompt.aio("Help {order:raw} {refund}", order=order, refund=refund)).value

    async def main() -> list[str]:
        with journaled(str(journal)), configure(provider=Answering(), max_in_flight=2):
            return await overlap.aio(one, ["ar", "b", "cr", "d", "e", "f", "g"])

    with pytest.raises(RunWaiting):
        asyncio.run(main())
    assert len([one for one in entries(journal) if "reply" in one]) == 7
    for call in waiting_calls(str(journal)):
        saft_decide(call, Decision.yes())
    assert len(asyncio.run(main())) == 7
    assert sorted(desk.done) == ["ar 1.0", "cr 1.0"]


# Deciding in a journal


def test_a_waiting_call_has_what_an_approver_is_told(desk: Desk, journal: Path) -> None:
    told: list[PendingCall] = []
    with pytest.raises(RunWaiting):
        run_kept(desk, journal, [REFUND], "done")
    (call,) = waiting_calls(journal)
    assert isinstance(call, PendingCall)

    def approve_all(pending: PendingCall) -> Decision:
        told.append(pending)
        return Decision.yes()

    with configure(approver=approve_all):
        run_kept(desk, journal, [REFUND], "done")
    (pending,) = told
    names = ("tool", "args", "shown", "place", "key", "kind")
    assert {name: getattr(call, name) for name in names} == asdict(pending)
    assert call.args == {"order": "A-1", "amount": 5.0}


def test_a_decision_is_made_while_the_run_goes_on(desk: Desk, journal: Path) -> None:
    with journaled(journal):
        with pytest.raises(RunWaiting):
            ask(desk, Turns([REFUND], "done"))
        (call,) = waiting_calls(journal)
        saft_decide(call, Decision.yes("ada"))
        with pytest.raises(ConfigError, match="run of this process"), journaled(journal):
            pass
    assert waiting_calls(journal) == []
    run_kept(desk, journal, [REFUND], "done")
    assert desk.done == ["A-1 5.0"]


@pytest.mark.parametrize("may", [True, False])
def test_true_and_false_are_decisions_as_of_an_approver(
    desk: Desk, journal: Path, may: bool
) -> None:
    with pytest.raises(RunWaiting):
        run_kept(desk, journal, [REFUND], "done")
    (call,) = waiting_calls(journal)
    assert not call.is_in_doubt
    odd: Any = "yes"
    with pytest.raises(CheckError, match=r'"yes" is not a decision about refund.*; give True'):
        saft_decide(call, odd)
    saft_decide(call, may)
    run_kept(desk, journal, [REFUND], "done")
    assert desk.done == ["A-1 5.0"] * may


def test_a_waiting_call_says_in_which_part_of_the_run_it_is(desk: Desk, journal: Path) -> None:
    for scope in ("mail/17", "mail/17/part"):
        with pytest.raises(RunWaiting), journaled(journal), journal_scope(scope):
            ask(desk, Turns([REFUND], "done"))
    assert [call.scope for call in waiting_calls(journal)] == ["mail/17", "mail/17/part"]


def test_a_call_that_is_under_way_is_not_in_doubt(desk: Desk, journal: Path) -> None:
    in_doubt(desk, journal)
    (call,) = waiting_calls(journal)
    assert call.is_in_doubt
    with journaled(journal):
        assert waiting_calls(journal) == []
        with pytest.raises(ConfigError, match="no longer waits"):
            settle(call, None)
    settle(call, "paid")


def test_a_decision_is_made_once(desk: Desk, journal: Path) -> None:
    with pytest.raises(RunWaiting):
        run_kept(desk, journal, [REFUND], "done")
    (call,) = waiting_calls(str(journal))
    for wrong in ("{", "[]", '{"order": "A"}', '{"order": "A", "amount": "1"}', '{"a": 1}'):
        with pytest.raises(CheckError):
            saft_decide(call, Decision("changed", arguments=wrong))
    with pytest.raises(CheckError, match="like a key"):
        saft_decide(call, Decision.no("sk-abcdefghij0123456789ABCDEFGHIJ"))
    saft_decide(call, Decision.yes("ada"))
    with pytest.raises(ConfigError, match="no longer waits"):
        saft_decide(call, Decision.no("too late"))
    run_kept(desk, journal, [REFUND], "done")
    assert desk.done == ["A-1 5.0"]


def in_doubt(desk: Desk, journal: Path) -> WaitingCall:
    """A call that was approved and begun, and whose end nobody knows."""
    configure(approver=deciding(True))
    run_kept(desk, journal, [REFUND], "done")
    configure(approver=None)
    cut(journal, False, after=1)
    (call,) = waiting_calls(str(journal))
    assert call.begun is not None and call.shown == 'refund(order: "A-1", amount: 5.0)'
    desk.done.clear()
    return call


def pay_lines(lines: list[dict[str, int]], by: Literal["card", "bank"], on: date) -> str:
    return f"{lines} {by} {on}"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"lines": [{"a": 2}], "by": "bank", "on": "2026-01-31"}, None),
        ({"lines": [{"a": "2"}], "by": "bank", "on": "2026-01-31"}, "lines: [{"),
        ({"lines": [], "by": "cash", "on": "2026-01-31"}, 'by: "cash" does not fit'),
        ({"lines": [], "by": "card", "on": "soon"}, 'on: "soon" does not fit'),
        ({"lines": [], "by": "card"}, "`pay_lines` needs on"),
        ({"lines": [], "by": "card", "on": "2026-01-31", "x": 1}, "has no parameter x"),
        ({"lines": [], "by": True, "on": "2026-01-31"}, "by: true does not fit"),
    ],
)
def test_changed_arguments_are_checked_before_the_run_goes_on(
    journal: Path, changed: dict[str, Any], problem: str | None
) -> None:
    sent = {"lines": [{"a": 1}], "by": "card", "on": "2026-01-31"}
    turns = Turns([tool("pay_lines", **sent)], "done")
    with pytest.raises(RunWaiting), journaled(str(journal)), configure(provider=turns):
        prompt("Help. {pay_lines}", pay_lines=approve(pay_lines))
    (call,) = waiting_calls(str(journal))
    if problem is None:
        saft_decide(call, Decision.changed(changed, by="ada"))
        return
    with pytest.raises(CheckError) as caught:
        saft_decide(call, Decision.changed(changed, by="ada"))
    assert problem in str(caught.value)


@pytest.mark.parametrize("word", [None, "call", "stop"])
def test_a_call_in_doubt_stops_the_run(
    desk: Desk, journal: Path, monkeypatch: pytest.MonkeyPatch, word: str | None
) -> None:
    call = in_doubt(desk, journal)
    if word is not None:
        monkeypatch.setenv("SAFT_ON_INTERRUPTED_CALL", word)
    for _ in range(2):
        with pytest.raises(JournalError, match="it may or may not have taken effect"):
            run_kept(desk, journal, [REFUND], "done")
    assert desk.done == []
    with pytest.raises(CheckError, match="it may have taken effect"):
        saft_decide(call, Decision.yes())


def test_a_call_in_doubt_that_took_effect_is_not_made_again(desk: Desk, journal: Path) -> None:
    settle(in_doubt(desk, journal), "refunded 5.0", "ada")
    result, provider = run_kept(desk, journal, [REFUND], "done")
    assert (result.value, desk.done, provider.told) == ("done", [], ["refunded 5.0"])


def test_a_call_in_doubt_that_did_not_is_made_once_more(desk: Desk, journal: Path) -> None:
    settle(in_doubt(desk, journal), None, "ada")
    result, _ = run_kept(desk, journal, [REFUND], "done")
    assert (result.value, desk.done) == ("done", ["A-1 5.0"])
    # And when it is under way at the next kill, it is in doubt again.
    cut(journal, True, after=0)
    with pytest.raises(JournalError, match="it may or may not have taken effect"):
        run_kept(desk, journal, [REFUND], "done")


# Tables


PAID: list[str] = []


def refund_of_row(order: str, amount: float) -> str:
    PAID.append(f"{order} {amount}")
    return f"refunded {amount}"


def answer_row(order: str) -> str:
    """Answers a row."""
    return prompt("Help {order:raw} {refund}", order=order, refund=approve(refund_of_row)).value


def test_rows_that_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    PAID.clear()
    orders = ["a", "br", "c", "dr", "e", "fr", "g"]
    rows = Path("orders.jsonl")
    rows.write_text("".join(json.dumps({"order": one}) + "\n" for one in orders))

    def mapped() -> tuple[Any, list[str]]:
        provider = Answering()

        with configure(provider=provider):
            report = map_rows(answer_row, rows, "out", part_rows=3, is_quiet=True)
        return report, provider.asked

    report, asked = mapped()
    assert (report.done, report.waiting, report.failed, report.stopped) == (4, 3, 0, None)
    assert "3 waiting for approval" in str(report)
    assert (sorted(asked), PAID) == (sorted(orders), [])
    waiting = {call.shown[15:17]: call for call in waiting_calls("out")}
    assert sorted(waiting) == ["br", "dr", "fr"]
    saft_decide(waiting["br"], Decision.yes("ada"))
    saft_decide(waiting["fr"], Decision.no("no", "ada"))
    report, asked = mapped()
    assert (report.done, report.waiting, asked, PAID) == (6, 1, [], ["br 1.0"])
    for call in waiting_calls("out"):
        saft_decide(call, Decision.yes("ada"))
    report, asked = mapped()
    assert (report.done, report.waiting, asked) == (7, 0, [])
    assert sorted(PAID) == ["br 1.0", "dr 1.0"]
    assert waiting_calls("out") == []


def test_what_waits_is_not_pure_in_a_program(desk: Desk, journal: Path) -> None:
    careful = approve(desk.refund)
    text = json.dumps([{"careful": {"order": one, "amount": 1}} for one in "AB"])

    def whole() -> Any:
        with journaled(str(journal)), configure(provider=Turns(text), approver=lambda _call: True):
            return program("{careful}", careful=careful, pure=[careful]).value

    assert whole() == whole() == ["refunded 1.0", "refunded 1.0"]
    assert desk.done == ["A 1.0", "B 1.0"]
