"""What programs do: values, order of effects, laziness, concurrency, limits, denial."""

# ruff: noqa: E501  (tables of cases, one a line)

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import Any

import pytest
from program_support import registry_of

from runtime_support import configure, overlap
from runtime_support.programs import (
    Ambiguity,
    Ambiguous,
    Limits,
    ProgramFailure,
    Registry,
    Success,
    evaluate,
    option,
)
from runtime_support.programs._machine import Machine

LESS = {"less": {"a": {"$ref": "n"}, "b": 3}}
PLUS = {"add": {"a": {"$ref": "n"}, "b": 10}}

VALUES = [
    ("calc", {"zero": {}}, 0),
    ("calc", {"add": {"a": {"add": {"a": 1, "b": 2}}, "b": 3}}, 6),
    ("text", {"repeat": {"text": "ab", "times": 3}}, "ababab"),
    ("text", {"upper": {"text": {"repeat": "ab"}}}, "ABAB"),
    ("calc", {}, {}),
    ("calc", {"$object": {}}, {}),
    ("calc", {"$object": {"add": {"zero": {}}}}, {"add": 0}),
    ("calc", {"$object": {"$ref": "x", "$y": 1}}, {"$ref": "x", "$y": 1}),
    ("places", {"tag": {"info": {"a": 1, "b": [{"only": {"box": {"size": 2}}}]}}}, {"a": 1, "b": [2]}),
    ("places", {"only": {"box": {"size": 3}}}, 3),
    ("places", {"only": {"box": {"$object": {"size": 3}}}}, 3),
    ("places", {"only": {"size": 3}}, None),
    ("books", {"greet": {"author": {"name": "Joyce"}}}, "Dear Joyce"),
    ("places", {"gap": {"a": {"lat": 1, "lon": 2}, "b": {"$object": {"lat": 0, "lon": 0}}}}, 3),
    ("calc", {"$let": {"bind": {"x": 1}, "in": {"$ref": "x"}}}, 1),
    ("calc", {"$let": {"bind": {"a": {"add": {"a": {"$ref": "b"}, "b": 1}}, "b": 2}, "in": {"$ref": "a"}}}, 3),
    ("calc", {"$let": {"bind": {"x": 1}, "in": {"$let": {"bind": {"x": 2}, "in": {"$ref": "x"}}}}}, 2),
    ("calc", {"$let": {"bind": {"x": 1}, "in": {"$let": {"bind": {"y": {"$ref": "x"}}, "in": {"$ref": "y"}}}}}, 1),
    ("calc", {"$map": {"over": [1, 2, 3, 4], "as": "n", "where": LESS, "do": PLUS}}, [11, 12]),
    ("calc", {"$map": {"over": [], "as": "n", "do": PLUS}}, []),
    ("calc", {"$map": {"over": [1], "as": "n", "where": 0, "do": PLUS}}, []),
    ("calc", {"$map": {"over": [[1], [2, 3]], "as": "r",
                       "do": {"$map": {"over": {"$ref": "r"}, "as": "n", "do": PLUS}}}}, [[11], [12, 13]]),
    ("calc", {"$let": {"bind": {"n": 5}, "in": [{"$map": {"over": [1], "as": "n", "do": PLUS}}, {"$ref": "n"}]}},
     [[11], 5]),
    ("calc", {"total": {"items": {"$map": {"over": ["1", 2], "as": "n", "do": {"$ref": "n"}}}}}, 3),
    ("calc", {"$if": {"test": 1, "then": "a", "else": "b"}}, "a"),
    ("calc", {"$if": {"test": {"negate": {"flag": True}}, "then": "a", "else": "b"}}, "b"),
    ("calc effects", {"dyn": {"of": {"x": 1, "y": {"zero": {}}}}}, {"x": 1, "y": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("names", "program", "value"), VALUES)
def test_value(names, program, value):
    registry, _ = registry_of(*names.split())
    outcome = evaluate(program, registry)
    if value is None:
        assert isinstance(outcome, ProgramFailure)
        return
    assert isinstance(outcome, Success), outcome
    assert outcome.value == value
    assert type(outcome.value) is type(value)


def note(text: Any) -> dict:
    return {"note": {"text": text}}


EFFECTS = [
    ([note("a"), note("b"), note("c")], ["a", "b", "c"]),
    ({"x": note("a"), "y": [note("b")], "z": note("c")}, ["a", "b", "c"]),
    # a binding runs once, also when nothing refers to it, after what it needs, else in source order
    ({"$let": {"bind": {"x": note("a")}, "in": 1}}, ["a"]),
    ({"$let": {"bind": {"x": note({"dyn": {"of": {"$ref": "y"}}}), "y": note("first"), "z": note("z")},
               "in": [{"$ref": "x"}, {"$ref": "x"}]}}, ["first", "1", "z"]),
    ({"$map": {"over": ["a", "b"], "as": "t", "do": [note({"$ref": "t"}), note("then")]}},
     ["a", "then", "b", "then"]),
    ({"$if": {"test": {"less": {"a": note("test"), "b": 0}}, "then": note("yes"), "else": note("no")}},
     ["test", "no"]),
    ({"add": {"b": note("written first"), "a": note("then")}}, ["written first", "then"]),
    # what stands after a failure or an ambiguity has no effects
    ([note("a"), {"fetch": "u"}, note("b")], ["a"]),
    ([note("a"), {"pick": {"names": ["p"]}}, note("b")], ["a"]),
    ([{"slow": {"ms": 30}}, {"fetch": "u"}, {"slow": {"ms": 1}}, note("b")], []),
    ({"$map": {"over": ["a", "u", "b"], "as": "t",
               "do": {"$if": {"test": {"less": {"a": {"length": {"text": note({"$ref": "t"})}}, "b": 0}},
                              "then": 1, "else": {"fetch": {"url": {"$ref": "t"}}}}}}}, ["a"]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "written"), EFFECTS)
def test_effects_keep_source_order(program, written):
    registry, notes = registry_of("effects", "calc", "text")
    evaluate(program, registry)
    assert notes == written


def test_calls_are_recorded_in_source_order_with_paths():
    registry, _ = registry_of("effects", "calc", "books")
    program = [{"slow": {"ms": 40}}, {"add": {"a": {"slow": {"ms": 1}}, "b": 1}}]
    outcome = evaluate(program, registry)
    assert [(call.name, call.path) for call in outcome.calls] == [
        ("slow", "/0"),
        ("slow", "/1/add/a"),
        ("add", "/1"),
    ]
    assert outcome.calls[1].arguments == {"ms": 1}
    assert outcome.calls[1].result == 1
    outcome = evaluate({"greet": {"author": {"find_book": "Ulysses"}}}, registry)
    assert [(call.name, call.path, call.kind) for call in outcome.calls] == [
        ("find_book", "/greet/author", "function"),
        ("author_of", "/greet/author", "conversion"),
        ("greet", "", "function"),
    ]


def test_failures():
    registry, _ = registry_of("effects", "calc", "books", "places")
    cases = [
        ({"add": {"a": 1, "b": {"div": {"a": 1, "b": 0}}}}, "error", "/add/b", "div: ZeroDivisionError"),
        ({"find_book": "Nope"}, "error", "", "find_book: LookupError: no book called Nope"),
        ([1, {"liar": {}}], "bad_result", "/1", "liar should return number but returned string"),
        ({"add": {"a": {"dyn": {"of": "x"}}, "b": 1}}, "conversion", "/add/a", '"x" is not a number'),
        ({"add": {"a": {"dyn": {"of": [1]}}, "b": 1}}, "conversion", "/add/a", "expected number, got [number]"),
        ({"gap": {"a": {"City": "Atlantis"}, "b": {"City": "Oslo"}}}, "conversion", "/gap/a", "locate: KeyError"),
        ({"locate": {"value": {"City": "Atlantis"}}}, "conversion", "", "locate: KeyError"),
        ({"total": {"items": {"dyn": {"of": [1, "x"]}}}}, "conversion", "/total/items", "item 1: "),
        ({"$map": {"over": [1, 0], "as": "n", "do": {"div": {"a": 1, "b": {"$ref": "n"}}}}}, "error",
         "/$map/do", "division by zero"),
    ]  # fmt: skip
    for program, kind, path, message in cases:
        outcome = evaluate(program, registry)
        assert isinstance(outcome, ProgramFailure), program
        assert (outcome.kind, outcome.path) == (kind, path)
        assert message in outcome.message


def test_a_failure_outranks_an_ambiguity_wherever_it_stands():
    registry, _ = registry_of("effects", "books")
    emma, fetch = {"find_book": "Emma"}, {"fetch": "u"}
    for program in ([emma, fetch], [fetch, emma], {"x": emma, "y": [[fetch]]}):
        outcome = evaluate(program, registry)
        assert isinstance(outcome, ProgramFailure)
        assert "host unreachable" in outcome.message


def test_all_failures_are_diagnostics():
    registry, _ = registry_of("effects", "books")
    outcome = evaluate([{"fetch": "u"}, {"find_book": "Nope"}], registry)
    assert [one.path for one in outcome.diagnostics] == ["/0", "/1"]
    assert outcome.path == "/0"


def test_denial():
    registry, notes = registry_of("effects", "books", "places")
    seen = []

    def on_call(name, arguments):
        seen.append((name, arguments))
        return name not in ("note", "locate")

    outcome = evaluate([{"dyn": {"of": 1}}, note("a")], registry, on_call=on_call)
    assert (outcome.kind, outcome.path, notes) == ("denied", "/1", [])
    assert seen == [("dyn", {"of": 1}), ("note", {"text": "a"})]
    hidden = {"gap": {"a": {"City": "Oslo"}, "b": {"City": "Oslo"}}}
    outcome = evaluate(hidden, registry, on_call=on_call)
    assert (outcome.kind, outcome.path) == ("denied", "/gap/a")
    assert "locate was denied" in outcome.message

    def refuse(name, arguments):
        raise PermissionError("ask the owner")

    outcome = evaluate(note("a"), registry, on_call=refuse)
    assert outcome.kind == "denied"
    assert "ask the owner" in outcome.message


CALLS = [
    ({"$map": {"over": [1, 2, 3], "as": "n", "do": PLUS}}, 3),
    ([{"zero": {}}, {"zero": {}}], 2),
    ({"add": {"a": {"zero": {}}, "b": {"zero": {}}}}, 3),
]


@pytest.mark.parametrize(("program", "made"), CALLS)
def test_the_limit_of_calls(program, made):
    registry, _ = registry_of("calc")
    assert isinstance(evaluate(program, registry, limits=Limits(calls=made)), Success)
    outcome = evaluate(program, registry, limits=Limits(calls=made - 1))
    assert outcome.kind == "limit"
    assert f"more than {made - 1} calls" in outcome.message
    assert len(outcome.calls) == made - 1


def test_limits_of_items_and_of_the_result():
    registry, _ = registry_of("calc", "effects", "text")
    inner = {"$map": {"over": [1, 2, 3], "as": "y", "do": 0}}
    program = {"$map": {"over": [1, 2, 3], "as": "x", "do": inner}}
    assert isinstance(evaluate(program, registry, limits=Limits(items=12)), Success)
    assert evaluate(program, registry, limits=Limits(items=11)).kind == "limit"
    outcome = evaluate({"repeat": {"text": "x", "times": 70_000}}, registry)
    assert (outcome.kind, len(outcome.calls)) == ("limit", 1)
    assert "result" in outcome.message


@pytest.mark.parametrize("form", ["async", "sync", "async that blocks"])
@pytest.mark.parametrize("pure", [True, False])
def test_timeout(form, pure):
    """The evaluation ends while the function goes on; what comes after it is not called."""
    let_go, after = threading.Event(), []

    async def wait() -> int:
        while not let_go.is_set():
            await asyncio.sleep(0.005)
        return 1

    def wait_sync() -> int:
        let_go.wait(60)
        return 1

    async def wait_blocking() -> int:
        let_go.wait(60)
        return 1

    def effect(value: int) -> int:
        after.append(value)
        return value

    function = {"async": wait, "sync": wait_sync, "async that blocks": wait_blocking}[form]
    registry = Registry([function, effect], pure=[function] if pure else [])
    program = {"effect": {"value": {function.__name__: {}}}}
    outcome = evaluate([program, program], registry, limits=Limits(seconds=0.05))
    assert outcome.kind == "timeout"
    assert "0.05 s" in outcome.message
    let_go.set()
    for thread in threading.enumerate():
        if thread.name.startswith("program"):
            thread.join(60)
    assert after == []


def meeting(count, form):
    """A function whose calls are over when `count` of them are under way."""
    together = threading.Barrier(count, timeout=60)
    arrived = []

    def meet_sync(number: int) -> int:
        together.wait()
        return number

    async def meet(number: int) -> int:
        arrived.append(number)
        while len(arrived) < count:
            await asyncio.sleep(0)
        return number

    return meet if form == "async" else meet_sync


@pytest.mark.parametrize("form", ["async", "sync"])
def test_pure_calls_run_together(form):
    meet = meeting(4, form)
    program = [{meet.__name__: number} for number in (1, 2, 3, 4)]
    assert evaluate(program, Registry([meet], pure=[meet])).value == [1, 2, 3, 4]


@pytest.mark.parametrize("form", ["async", "sync"])
def test_other_calls_do_not_run_together(form):
    log = []

    def work_sync(number: int) -> int:
        log.append(f"begin {number}")
        log.append(f"end {number}")
        return number

    async def work(number: int) -> int:
        log.append(f"begin {number}")
        await asyncio.sleep(0)
        log.append(f"end {number}")
        return number

    function = work if form == "async" else work_sync
    program = [{function.__name__: number} for number in (1, 2)]
    assert evaluate(program, Registry([function])).value == [1, 2]
    assert log == ["begin 1", "end 1", "begin 2", "end 2"]


def test_map_elements_run_together():
    meet = meeting(3, "async")
    do = {"meet": {"number": {"$ref": "n"}}}
    program = {"$map": {"over": [3, 2, 1], "as": "n", "do": do}}
    assert evaluate(program, Registry([meet], pure=[meet])).value == [3, 2, 1]


def test_from_inside_a_running_loop():
    async def later(number: int) -> int:
        await asyncio.sleep(0)
        return number

    async def main():
        return evaluate({"later": 1}, Registry([later]))

    assert asyncio.run(main()).value == 1


def test_context_variables_reach_functions():
    import contextvars

    variable = contextvars.ContextVar("variable", default="unset")

    def read(of: Any) -> str:
        return variable.get()

    variable.set("set")
    for pure in ([], [read]):
        assert evaluate([{"read": 1}, {"read": 2}], Registry([read], pure=pure)).value == [
            "set",
            "set",
        ]


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt()])
def test_a_request_to_end_the_process_passes(raised):
    def leave() -> None:
        raise raised

    with pytest.raises(type(raised)):
        evaluate({"leave": {}}, Registry([leave]))


def test_strange_exceptions_are_failures():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    def fail(how: str) -> None:
        raise {"mute": Mute, "stop": StopIteration, "cancel": asyncio.CancelledError}[how]()

    async def fail_later(how: str) -> None:
        fail(how)

    registry = Registry([fail, fail_later], pure=[fail])
    for name in ("fail", "fail_later"):
        for how in ("mute", "stop", "cancel"):
            outcome = evaluate([{name: how}, {name: how}], registry)
            assert isinstance(outcome, ProgramFailure), (name, how)
            assert outcome.message.startswith(f"{name}: ")


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("it has no text")


def test_strange_results_are_values():
    given = [Silent(), 10**5_000]

    def give(index: int) -> object:
        return given[index]

    def use(value: object) -> str:
        return type(value).__name__

    registry = Registry([give, use])
    for index, name in enumerate(("Silent", "int")):
        assert evaluate({"give": index}, registry).value is given[index]
        assert evaluate({"use": {"value": {"give": index}}}, registry).value == name


def test_earlier_calls_with_effects_are_not_made_again():
    registry, notes = registry_of("effects")
    first = evaluate([note("a"), {"pick": {"names": ["p"]}}], registry)
    assert isinstance(first, Ambiguous)
    chosen = first.candidates[0].program
    second = evaluate([*chosen, note("a")], registry, earlier=first.calls)
    assert second.value == [1, "p", 2]
    assert notes == ["a", "a"]
    assert [call.reused for call in second.calls] == [True, False]


def test_earlier_calls_of_pure_functions_are_not_made_again():
    made = []

    def ask(topic: str) -> str:
        made.append(topic)
        return f"{topic} {made.count(topic)}"

    def pick(names: list[str]) -> str:
        raise Ambiguity("which?", [option("the first", names[0]), option("the last", names[-1])])

    registry = Registry([ask, pick], pure=[ask])
    asked = [{"ask": {"topic": one}} for one in ("a", "b")]
    first = evaluate({"pick": {"names": asked}}, registry)
    assert isinstance(first, Ambiguous)
    second = evaluate([*asked, asked[0]], registry, earlier=first.calls)
    assert second.value == ["a 1", "b 1", "a 1"]
    assert sorted(made) == ["a", "b"]
    assert [call.reused for call in second.calls] == [True] * 3


def test_the_limit_of_calls_is_that_of_earlier_programs_too():
    registry, notes = registry_of("effects")
    first = evaluate([note("a"), {"pick": {"names": ["p"]}}], registry)
    again = [note("a"), note("b")]
    assert isinstance(
        evaluate(again, registry, limits=Limits(calls=3), earlier=first.calls), Success
    )
    outcome = evaluate(again, registry, limits=Limits(calls=2), earlier=first.calls)
    assert (outcome.kind, outcome.path) == ("limit", "/1")
    assert "more than 2 calls, with those of earlier programs" in outcome.message
    assert notes == ["a", "b"]


def test_threads_do_not_share_anything():
    registry, _ = registry_of("calc")
    results = []

    def work(number):
        results.append(evaluate({"add": {"a": number, "b": 1}}, registry).value == number + 1)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


@dataclass(frozen=True)
class Edition:
    year: int


def test_ambiguity_options():
    def edition(title: str, year: int | None = None, *, kind: str = "book") -> Edition:
        if year is None:
            options = [
                option("by value", Edition(1815)),
                option("by year", year=1996, kind="print"),
            ]
            raise Ambiguity(f"which {title}?", options)
        return Edition(year)

    registry = Registry([edition], [Edition])
    outcome = evaluate([{"edition": "Emma"}], registry)
    assert [(one.sentence, one.program) for one in outcome.candidates] == [
        ("by value", [{"Edition": {"year": 1815}}]),
        ("by year", [{"edition": {"title": "Emma", "year": 1996, "kind": "print"}}]),
    ]
    for candidate in outcome.candidates:
        assert isinstance(evaluate(candidate.program, registry), Success)
    with pytest.raises(TypeError):
        option("nothing")
    with pytest.raises(TypeError):
        option("both", 1, year=2)


def test_options_that_cannot_be_written_are_told_in_words():
    def vague(value: str) -> Any:
        made = {"value": option("x", object()), "name": option("y", nothing=1)}
        raise Ambiguity("which?", [made[value]])

    registry = Registry([vague])
    for value in ("value", "name"):
        outcome = evaluate({"vague": value}, registry)
        assert isinstance(outcome, Ambiguous)
        assert outcome.candidates == ()
        assert outcome.message.startswith("which? The choices are: ")


class Crowd:
    """Counts how many calls run at once, in threads or in an event loop.

    None of them ends before `company` have run at once, nor, behind one that fails, before
    `is_noted` is set.
    """

    def __init__(self, kind: str, failing: int | None = None, company: int = 1) -> None:
        self.asked: list[int] = []
        self.now = self.peak = 0
        self.lock = threading.Lock()
        self.failing = failing
        self.company = company
        self.is_noted = threading.Event()
        self.function = self.ask_async if kind == "async" else self.ask

    def enter(self, number: int) -> None:
        with self.lock:
            self.asked.append(number)
            self.now += 1
            self.peak = max(self.peak, self.now)

    def leave(self, number: int) -> int:
        with self.lock:
            self.now -= 1
        if number == self.failing:
            raise ValueError("no")
        return number

    def may_end(self, number: int) -> bool:
        is_behind = self.failing is not None and number > self.failing
        return self.peak >= self.company and (not is_behind or self.is_noted.is_set())

    def ask(self, number: int) -> int:
        self.enter(number)
        time.sleep(0.002)
        while not self.may_end(number):
            time.sleep(0.002)
        return self.leave(number)

    async def ask_async(self, number: int) -> int:
        self.enter(number)
        await asyncio.sleep(0.002)
        while not self.may_end(number):
            await asyncio.sleep(0.002)
        return self.leave(number)


def each(over, do):
    return {"$map": {"over": over, "as": "n", "do": do}}


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_as_many_calls_run_together_as_may_be_in_flight(kind, most):
    crowd = Crowd(kind, company=min(most, 2))
    numbers = [*range(20)]
    registry = Registry({"ask": crowd.function}, pure=["ask"])
    programs = [
        each(numbers, {"ask": {"number": {"$ref": "n"}}}),
        [{"ask": number} for number in numbers],
        {str(number): {"ask": {"number": {"ask": number}}} for number in numbers},
        {"$let": {"bind": {f"x{n}": {"ask": n} for n in numbers}, "in": numbers}},
        each(
            [0, 10],
            [
                {"ask": {"number": {"$ref": "n"}}},
                each([1, 2, 3], {"ask": {"number": {"$ref": "n"}}}),
            ],
        ),
    ]
    for program in programs:
        with configure(max_in_flight=most):
            assert isinstance(evaluate(program, registry), Success)
        assert min(most, 2) <= crowd.peak <= most
        if most == 1 and program in programs[:2]:
            assert crowd.asked == numbers
        crowd.peak, crowd.asked = 0, []


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_programs_inside_of_programs_share_the_bound(kind):
    crowd = Crowd(kind, company=2)
    inner = Registry({"ask": crowd.function}, pure=["ask"])

    def many(number: int) -> list[int]:
        return evaluate(
            each([number, number + 1, number + 2], {"ask": {"number": {"$ref": "n"}}}), inner
        ).value

    outer = inner.extended([many], pure=[many])
    with configure(max_in_flight=3):
        program = [
            each([0, 10, 20, 30], {"many": {"number": {"$ref": "n"}}}),
            {"ask": 1},
            {"ask": 2},
        ]
        assert isinstance(evaluate(program, outer), Success)
        assert 2 <= crowd.peak <= 3
        crowd.peak = 0
        assert evaluate({"many": 5}, outer).value == [5, 6, 7]
        assert 2 <= crowd.peak <= 3


def test_overlap_inside_of_calls_that_run_together_shares_the_bound():
    crowd = Crowd("sync", company=2)

    def many(number: int) -> list[int]:
        return list(overlap(crowd.ask, [number, number + 1, number + 2]))

    registry = Registry([many], pure=[many])
    with configure(max_in_flight=3, provider="mock"):
        assert isinstance(
            evaluate(each([0, 10, 20, 30], {"many": {"number": {"$ref": "n"}}}), registry), Success
        )
    assert 2 <= crowd.peak <= 3


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_one_after_the_other_nothing_is_called_after_a_failure(kind):
    for program in (
        each([1, 2, 3, 4, 5], {"ask": {"number": {"$ref": "n"}}}),
        [{"ask": 1}, [{"ask": 2}, {"ask": 3}, {"ask": 4}], {"ask": {"number": {"ask": 5}}}],
        {"$let": {"bind": {f"x{n}": {"ask": n} for n in (1, 2, 3, 4)}, "in": {"ask": 5}}},
    ):
        crowd = Crowd(kind, failing=3)
        registry = Registry({"ask": crowd.function}, pure=["ask"])
        with configure(max_in_flight=1):
            outcome = evaluate(program, registry)
        assert isinstance(outcome, ProgramFailure)
        assert "ValueError: no" in outcome.message
        assert crowd.asked == [1, 2, 3]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_what_waits_for_its_place_is_not_called_after_a_failure(kind, monkeypatch):
    crowd = Crowd(kind, failing=2)
    note = Machine.note_problems

    def note_and_tell(machine, stopped):
        note(machine, stopped)
        crowd.is_noted.set()

    monkeypatch.setattr(Machine, "note_problems", note_and_tell)
    registry = Registry({"ask": crowd.function}, pure=["ask"])
    with configure(max_in_flight=2):
        outcome = evaluate([{"ask": n} for n in range(30)], registry)
    assert outcome.path == "/2"
    assert set(crowd.asked) <= {0, 1, 2, 3}


def test_what_stands_before_a_failure_is_still_called():
    def slow(number: int) -> int:
        threading.Event().wait(0.01)
        raise ValueError(f"slow {number}")

    def quick() -> int:
        raise ValueError("quick")

    registry = Registry([slow, quick], pure=[slow, quick])
    for _ in range(5):
        outcome = evaluate([[{"slow": 1}], {"quick": {}}], registry)
        assert (outcome.path, "slow 1" in outcome.message) == ("/0/0", True)
