"""Which kept answer a run takes: the one to what is asked now, wherever that was asked before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from runtime_support import JournalError, PendingCall, approve, configure, overlap, program, prompt
from runtime_support.errors import RunWaiting
from runtime_support.programs import Plan
from runtime_support.programs import run as run_plan
from runtime_support.runs import (
    decide,
    idempotency_key,
    journal_scope,
    journaled,
    waiting_calls,
)
from tests.support.fake_server import FakeServer, calling, completion

FILE = "run.journal"
Function = Callable[..., Any]
Go = Callable[[Function, list[Any]], list[Any]]


def one_after_the_other(function: Function, items: list[Any]) -> list[Any]:
    return [function(item) for item in items]


def at_once(function: Function, items: list[Any]) -> list[Any]:
    return list(overlap(function, items))


def awaited(function: Function, items: list[Any]) -> list[Any]:
    async def main() -> list[Any]:
        return [await function(item, awaits=True) for item in items]

    return asyncio.run(main())


def awaited_at_once(function: Function, items: list[Any]) -> list[Any]:
    async def one(item: Any) -> Any:
        return await function(item, awaits=True)

    async def main() -> list[Any]:
        return [found async for found in overlap.aio(one, items)]

    return asyncio.run(main())


FORMS = (one_after_the_other, at_once, awaited, awaited_at_once)


def topic(word: str, *, awaits: bool = False) -> Any:
    if awaits:
        return text_of(prompt.aio("Topic of {word}", word=word))
    return prompt("Topic of {word}", word=word).value


def renamed(word: str, *, awaits: bool = False) -> Any:
    # A comment, and another line.
    return topic(word, awaits=awaits)


async def text_of(answer: Any) -> Any:
    return (await answer).value


def echoing(server: FakeServer) -> None:
    """Has the server answer with the question."""
    server.responder = lambda body: completion(f"re {body['messages'][-1]['content']}")


def answer_to(word: str) -> str:
    return f're Topic of "{word}"'


def kept(go: Go, items: list[Any], function: Function = topic) -> list[Any]:
    with journaled(FILE):
        return go(function, items)


@pytest.mark.parametrize("go", FORMS)
def test_only_what_is_new_is_asked(server: FakeServer, go: Go) -> None:
    echoing(server)
    first = ["b", "c", "d", "e"]
    for items, function, asked in (
        (first, topic, 4),
        (first, topic, 0),
        (["a", *first], topic, 1),
        (["c", "d", "e"], topic, 0),
        (["c", "b", "e", "d"], topic, 0),
        (first, renamed, 0),
        (["b", "c", "x", "d", "e", "y"], renamed, 2),
        ([*reversed(first)], topic, 0),
    ):
        before = len(server.requests)
        assert kept(go, items, function) == [answer_to(word) for word in items]
        assert len(server.requests) - before == asked, items


def test_a_place_that_has_moved_is_kept_until_the_next_run(server: FakeServer) -> None:
    """What a call has taken once is its own, also where an equal one comes first then."""
    server.responder = lambda _: completion(f"{len(server.requests)}")

    def later(number: int, *, awaits: bool = False) -> Any:
        return topic("same") if number in chosen else ""

    chosen = {3}
    assert kept(at_once, [*range(4)], later) == ["", "", "", "1"]
    chosen = {1}
    assert kept(at_once, [*range(4)], later) == ["", "1", "", ""]
    chosen = {1, 3}
    assert kept(at_once, [*range(4)], later) == ["", "1", "", "2"]


def test_each_form_takes_what_another_has_kept(server: FakeServer) -> None:
    echoing(server)
    for go in FORMS:
        assert kept(go, [*"cab"]) == [answer_to(word) for word in "cab"]
        assert kept(go, [*"xbca"])[1:] == [answer_to(word) for word in "bca"]
    assert len(server.requests) == 4


@pytest.mark.parametrize("go", FORMS)
def test_of_equal_prompts_each_takes_its_own(server: FakeServer, go: Go) -> None:
    server.responder = lambda _: completion(f"{len(server.requests)}")
    first = kept(go, ["same"] * 5)
    assert sorted(first) == [*"12345"]
    for form in (go, *FORMS):
        assert kept(form, ["same"] * 5) == first
    assert kept(go, ["same"] * 3) == first[:3]
    more = kept(go, ["same"] * 6)
    assert (more[:5], more[5]) == (first, "6")


def test_scopes_keep_equal_prompts_apart(server: FakeServer) -> None:
    server.responder = lambda _: completion(f"{len(server.requests)}")

    def one(row: int, *, awaits: bool = False) -> Any:
        with journal_scope(f"row/{row}"):
            return topic("same")

    first = kept(at_once, [1, 2, 3], one)
    assert kept(at_once, [3, 0, 1, 2], one) == [first[2], "4", *first[:2]]


# Tools that close over what the model is not told


@dataclass(frozen=True)
class Order:
    id: str
    amount: int


class Ledger:
    """No data: nobody can tell whether two of them are the same."""

    def __init__(self, id: str) -> None:
        self.id = id


PAID: list[str] = []
KEYS: list[str] = []


def order(id: str) -> Order:
    return Order(id, 3)


def entry(id: str) -> dict[str, str]:
    return {"id": id}


def name_of(order: Any) -> str:
    if isinstance(order, str):
        return order
    if isinstance(order, Order | Ledger):
        return order.id
    return order["id"]


def pay_order(order: Any, *, awaits: bool = False) -> Any:
    def pay() -> str:
        """Pays the open order."""
        PAID.append(name_of(order))
        KEYS.append(idempotency_key())
        return name_of(order)

    if awaits:
        return text_of(prompt.aio("Pay the open order with {pay}.", pay=pay))
    return prompt("Pay the open order with {pay}.", pay=pay).value


@pytest.fixture
def bank(server: FakeServer) -> FakeServer:
    """A model that pays, and says what the tool told it."""

    def answer(body: Any) -> Any:
        last = body["messages"][-1]
        if last["role"] == "tool":
            return completion(f"done: {last['content']}")
        return calling(("pay", {}))

    PAID.clear()
    KEYS.clear()
    server.responder = answer
    return server


def paid_by(go: Go, orders: list[Any]) -> tuple[list[str], list[str]]:
    PAID.clear()
    return kept(go, orders, pay_order), sorted(PAID)


@pytest.mark.usefixtures("bank")
@pytest.mark.parametrize("go", FORMS)
@pytest.mark.parametrize("make", [str, order])
def test_an_order_that_was_paid_is_paid_once_and_another_is_paid(
    go: Go, make: Callable[[str], Any]
) -> None:
    a, b, c = map(make, "ABC")
    assert paid_by(go, [a, b]) == (["done: A", "done: B"], ["A", "B"])
    assert paid_by(go, [b, c]) == (["done: B", "done: C"], ["C"])
    assert paid_by(go, [c, a, b]) == (["done: C", "done: A", "done: B"], [])
    assert len(set(KEYS)) == 3


class Payer:
    def __init__(self, pay: Callable[[], str]) -> None:
        self.pay = pay

    def __call__(self) -> str:
        return self.pay()


@pytest.mark.usefixtures("bank")
@pytest.mark.parametrize("wrap", [approve, lru_cache])
@pytest.mark.parametrize("is_inside", [False, True])
def test_a_wrapped_tool_closes_over_what_its_function_closes_over(
    wrap: Callable[[Any], Callable[[], str]], is_inside: bool
) -> None:
    def pay_by_wrapped(order: str, *, awaits: bool = False) -> Any:
        def pay() -> str:
            PAID.append(order)
            return order

        wrapped = wrap(pay)

        def pay_inside() -> str:
            return wrapped()

        tool = pay_inside if is_inside else wrapped
        return prompt("Pay the open order with {pay}.", pay=tool).value

    def say_yes(_: PendingCall) -> bool:
        return True

    configure(approver=say_yes)
    assert kept(one_after_the_other, ["A", "B"], pay_by_wrapped) == ["done: A", "done: B"]
    assert kept(one_after_the_other, ["B", "C"], pay_by_wrapped) == ["done: B", "done: C"]
    assert PAID == ["A", "B", "C"]


def pay_by_plan(_: str, *, pay: Any) -> Any:
    return f"done: {run_plan(Plan.read({'pay': {}}, [pay]))}"


def pay_by_program(template: str, *, pay: Any) -> Any:
    return f"done: {program(template, pay=pay).value}"


def pay_by_prompt(template: str, *, pay: Any) -> Any:
    return prompt(template, pay=pay).value


@pytest.mark.parametrize("form", [pay_by_prompt, pay_by_program, pay_by_plan])
def test_a_decision_is_about_what_the_tool_closes_over(
    bank: FakeServer, form: Callable[..., Any]
) -> None:
    if form is pay_by_program:
        bank.responder = lambda _: completion('{"pay": {}}')

    def pay_approved(order: str, *, awaits: bool = False) -> Any:
        def pay() -> str:
            PAID.append(order)
            return order

        return form("Pay the open order with {pay}.", pay=approve(pay))

    def run(*orders: str) -> list[str]:
        return kept(one_after_the_other, list(orders), pay_approved)

    with pytest.raises(RunWaiting):
        run("A")
    decide(waiting_calls(FILE)[0], True)
    with pytest.raises(RunWaiting):
        run("B")
    assert PAID == []
    decide(waiting_calls(FILE)[0], True)
    assert run("B", "A") == ["done: B", "done: A"]
    assert PAID == ["B", "A"]


@pytest.mark.usefixtures("bank")
def test_an_object_that_is_called_may_be_any_other() -> None:
    def pay_by_object(order: str, *, awaits: bool = False) -> Any:
        payer = Payer(lambda: PAID.append(order) or order)

        def pay() -> str:
            return payer()

        return prompt("Pay the open order with {pay}.", pay=pay).value

    assert kept(one_after_the_other, ["A", "B"], pay_by_object) == ["done: A", "done: B"]
    with pytest.raises(JournalError, match="pay may have been called for this one or for another"):
        kept(one_after_the_other, ["B", "C"], pay_by_object)


@pytest.mark.usefixtures("bank")
def test_what_values_a_tool_closes_over_is_not_enough() -> None:
    def move(pair: Any, *, awaits: bool = False) -> Any:
        source, target = pair

        def pay() -> str:
            PAID.append(f"{source} to {target}")
            return PAID[-1]

        return prompt("Pay the open order with {pay}.", pay=pay).value

    assert kept(one_after_the_other, [("A", "B")], move) == ["done: A to B"]
    assert kept(one_after_the_other, [("B", "A")], move) == ["done: B to A"]
    assert kept(one_after_the_other, [("A", "B"), ("A", "A")], move) == [
        "done: A to B",
        "done: A to A",
    ]
    assert PAID == ["A to B", "B to A", "A to A"]


@pytest.mark.usefixtures("bank")
@pytest.mark.parametrize("make", [Ledger, entry])
def test_a_call_of_which_nobody_knows_what_it_was_about_stops_the_run(
    make: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert paid_by(one_after_the_other, [make("A"), make("B")])[1] == ["A", "B"]
    with pytest.raises(JournalError, match="pay may have been called for this one or for another"):
        paid_by(one_after_the_other, [make("C"), make("D")])
    assert PAID == []
    monkeypatch.setenv("SAFT_ON_INTERRUPTED_CALL", "call")
    assert paid_by(one_after_the_other, [make("C"), make("D")])[1] == ["C", "D"]


@pytest.mark.usefixtures("bank")
def test_objects_that_are_equal_are_the_same() -> None:
    orders: list[Any] = [{"id": "A"}, {"id": "B"}]
    assert paid_by(at_once, orders)[1] == ["A", "B"]
    assert paid_by(at_once, [{"id": "B"}, {"id": "A"}]) == (["done: B", "done: A"], [])


@pytest.mark.usefixtures("bank")
def test_what_a_tool_changes_itself_tells_no_calls_apart() -> None:
    def run() -> tuple[list[str], list[str]]:
        done: list[str] = []

        def one(order: str) -> str:
            def pay() -> str:
                done.append(order)
                return order

            return prompt("Pay the open order with {pay}.", pay=pay).value

        with journaled(FILE):
            return [one(order) for order in ("A", "B")], done

    assert run() == (["done: A", "done: B"], ["A", "B"])
    assert run() == (["done: A", "done: B"], [])


def test_the_place_in_the_list_does_not_matter_for_a_run_that_was_killed(
    server: FakeServer, tmp_path: Path
) -> None:
    class Killed(KeyboardInterrupt):
        pass

    def one(word: str, *, awaits: bool = False) -> Any:
        if word == "e" and not (tmp_path / "again").exists():
            raise Killed
        return topic(word)

    echoing(server)
    configure(max_in_flight=1)
    with pytest.raises(Killed):
        kept(at_once, [*"bcde"], one)
    (tmp_path / "again").touch()
    count = len(server.requests)
    assert kept(at_once, [*"abcde"], one) == [answer_to(word) for word in "abcde"]
    assert (count, len(server.requests)) == (3, 5)
