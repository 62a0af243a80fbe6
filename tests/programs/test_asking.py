"""`program`: the model answers with a program, and gets a second chance where there is a choice."""

import asyncio
import json
import pickle
import threading
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import pytest

from runtime_support import CheckError, ProgramError, check
from runtime_support._core.question import first_request
from runtime_support._core.templates import Unknown
from runtime_support.ops import kind, show, to_json
from runtime_support.programs import Ambiguous, ProgramFailure, ProgramText, ambiguous, option
from runtime_support.programs._prompting import Plan, ProgramQuestion, program, run
from runtime_support.testing import Scripted


@dataclass(frozen=True)
class City:
    name: str


@dataclass(frozen=True)
class Point:
    lat: float
    lon: float


def locate(city: City) -> Point:
    """where the city is"""
    return Point(59.9, 10.7) if city.name == "Oslo" else Point(41.9, 12.5)


def gap(a: Point, b: Point) -> float:
    return abs(a.lat - b.lat) + abs(a.lon - b.lon)


class Entry(TypedDict):
    year: int
    notes: list[str]
    city: City


def publish(entry: Entry) -> str:
    return f"{entry['year']} in {entry['city'].name}"


def shelve(name: str) -> str:
    return name


def find_book(title: str, year: int | None = None) -> str:
    if year is None:
        options = [option(f"the {one} edition", year=one) for one in (1815, 1996)]
        ambiguous(f"2 books are called {title}", options)
    return f"{title} ({year})"


OSLO_ROME = {"gap": {"a": {"City": {"name": "Oslo"}}, "b": {"City": "Rome"}}}


def ask(replies, template="Use {gap}.", options=None, **arguments):
    model = Scripted([one if isinstance(one, str) else json.dumps(one) for one in replies])
    if "{gap}" in template:
        arguments.setdefault("gap", gap)
        arguments.setdefault("conversions", [locate])
    result = program(template, options={"provider": model, **(options or {})}, **arguments)
    return result, model


def test_one_request():
    result, model = ask(
        [OSLO_ROME], "How far is Oslo from {place}? Use {gap}.", place="Rome", returns=float
    )
    assert result.value == pytest.approx(19.8)
    assert [(call.tool, call.path) for call in result.tool_calls] == [
        ("locate", "/gap/a"),
        ("locate", "/gap/b"),
        ("gap", ""),
    ]
    assert result.tool_calls[0].args == {"city": {"City": {"name": "Oslo"}}}
    assert result.tool_calls[0].result == '{"Point":{"lat":59.9,"lon":10.7}}'
    assert (result.usage.requests, result.model, result.repairs) == (1, "scripted", [])
    (request,) = model.requests
    asked = request.messages[0]["content"]
    assert asked.startswith('How far is Oslo from "Rome"? Use gap.')
    for part in (
        "type Point(lat: number, lon: number)",
        "type City(name: string)",
        "gap(a: Point, b: Point) -> number",
        "conv locate(city: City) -> Point  # where the city is",
        "The value of the program has to be: number",
    ):
        assert part in asked
    assert request.tools == ()
    assert "call.gap" in request.schema["$defs"]


def test_replies_as_models_write_them():
    for reply in (
        f"```json\n{json.dumps(OSLO_ROME)}\n```",
        f"<think>gap is best</think>\n{json.dumps(OSLO_ROME)}",
        json.dumps(OSLO_ROME)[:-1] + ",}",
    ):
        result, model = ask([reply], returns=float)
        assert result.value == pytest.approx(19.8)
        assert len(model.requests) == 1


def test_an_invalid_program_goes_back_with_what_is_wrong():
    wrong = {"gab": OSLO_ROME["gap"]}
    result, model = ask([wrong, OSLO_ROME])
    assert result.value == pytest.approx(19.8)
    told = model.requests[1].messages[-1]
    assert told["role"] == "user"
    assert told["content"].startswith(
        "Invalid at (root): unknown function 'gab', did you mean gap?"
    )
    assert told["content"].endswith("Reply with a corrected program.")
    assert model.requests[1].messages[-2] == {"role": "assistant", "content": json.dumps(wrong)}
    assert any("unknown function 'gab'" in one for one in result.repairs)


@pytest.mark.heavy
def test_a_number_chooses_and_effects_happen_once():
    sent = []

    def send(text: str) -> int:
        sent.append(text)
        return len(sent)

    first = [{"send": "hello"}, {"find_book": "Emma"}, {"send": "bye"}]
    result, model = ask([first, "7", "2"], "{send} {find_book}", send=send, find_book=find_book)
    assert result.value == [1, "Emma (1996)", 2]
    assert sent == ["hello", "bye"]
    ambiguity, out_of_range = (model.requests[n].messages[-1]["content"] for n in (1, 2))
    assert ambiguity.startswith("Ambiguous at /1: 2 books are called Emma.")
    assert "There is no program 7, only 1 to 2." in out_of_range
    assert [(call.tool, call.error) for call in result.tool_calls] == [
        ("send", None),
        ("find_book", "2 books are called Emma"),
        ("find_book", None),
        ("send", None),
    ]


def test_a_number_still_chooses_after_a_reply_that_is_no_program():
    replies = [{"find_book": "Emma"}, "Program 2", "2"]
    result, _ = ask(replies, "{find_book}", find_book=find_book, returns=str)
    assert result.value == "Emma (1996)"


def test_a_number_without_candidates_is_a_program():
    assert ask(["2"], "{find_book}", find_book=find_book, returns=int)[0].value == 2


def test_a_failure_ends_it():
    def fail(of: int) -> int:
        raise ValueError("no")

    with pytest.raises(ProgramError, match="fail: ValueError: no") as caught:
        ask([{"fail": 1}, "1"], "{fail}", fail=fail)
    assert isinstance(caught.value.outcome, ProgramFailure)
    assert caught.value.attempts == (('{"fail": 1}', "Error at (root): fail: ValueError: no"),)
    assert [call.error for call in caught.value.tool_calls] == ["fail: ValueError: no"]


def test_too_many_attempts():
    with pytest.raises(ProgramError, match="missing required parameter 'b'") as caught:
        ask(["prose", {"gap": {}}, {"find_book": "Emma"}, "x"], "{gap} {find_book}",
            {"max_tool_rounds": 1}, find_book=find_book)  # fmt: skip
    assert [text for text, _ in caught.value.attempts] == ["prose", '{"gap": {}}']
    with pytest.raises(ProgramError) as caught:
        ask([{"find_book": "Emma"}], "{find_book}", {"max_tool_rounds": 0}, find_book=find_book)
    assert isinstance(caught.value.outcome, Ambiguous)
    assert len(caught.value.attempts) == 1


WRONG = {"gap": {"a": 1}}


@pytest.mark.parametrize(
    ("options", "requests"),
    [
        ({}, 2),
        ({"max_repairs": 0}, 1),
        ({"max_repairs": 3}, 4),
        ({"max_repairs": 9, "max_tool_rounds": 1}, 2),
    ],
)
@pytest.mark.parametrize("wrong", [WRONG, "prose", {"locate": {"city": {"City": "x"}}, "b": WRONG}])
def test_repairs_bound_a_program_that_stays_wrong(options, requests, wrong):
    model = Scripted([wrong if isinstance(wrong, str) else json.dumps(wrong)] * 12)
    with pytest.raises(ProgramError, match="no program could be run") as caught:
        program("{gap}", gap=gap, conversions=[locate], options={"provider": model, **options})
    assert len(model.requests) == len(caught.value.attempts) == requests
    told = str(caught.value)
    assert "raise `max_repairs`" in told or "raise `max_tool_rounds`" in told


def test_new_mistakes_are_told_as_often():
    first, second = {"gab": OSLO_ROME["gap"], "x": WRONG}, {"gap": {"a": "Oslo", "c": 2}}
    result, _ = ask(["prose", first, second, OSLO_ROME])
    assert result.value == pytest.approx(19.8)
    with pytest.raises(ProgramError, match="no program could be run"):
        ask(["prose", first], options={"max_repairs": 0})


def test_a_number_that_stays_wrong_is_the_end():
    with pytest.raises(ProgramError, match="There is no program 7, only 1 to 2"):
        ask([{"find_book": "Emma"}, "7", "7", "7"], "{find_book}", find_book=find_book)


def test_choices_are_no_repairs():
    books = [{"find_book": "Emma"}, {"find_book": "Emma"}]
    first = '[{"find_book":{"title":"Emma","year":1815}},{"find_book":"Emma"}]'
    result, _ = ask([books, first, "2"], "{find_book}", {"max_repairs": 0}, find_book=find_book)
    assert result.value == ["Emma (1815)", "Emma (1996)"]


@dataclass(frozen=True)
class Word:
    text: str


def count_of(word: Word) -> int:
    return int(word.text)


def test_a_conversion_that_fails_goes_back_to_the_model():
    sent = []

    def send(text: str) -> str:
        sent.append(text)
        return "7"

    def double(number: int) -> int:
        return 2 * number

    wrong = [{"send": "a"}, {"double": {"number": {"Word": "seven"}}}]
    right = [{"send": "a"}, {"double": {"number": {"Word": "7"}}}]
    spelled = {"count_of": {"word": {"Word": "seven"}}}
    for failing, reason in (
        (wrong, "Conversion at /1/double/number: count_of: ValueError: invalid literal"),
        ([{"send": "a"}, {"double": {"number": spelled}}], "Conversion at /1/double/number"),
        ([{"send": "a"}, {"double": {"number": {"any_text": {}}}}], '"seven" is not a number'),
    ):
        sent.clear()
        result, model = ask(
            [failing, right],
            "{send} {double} {any_text}",
            send=send,
            double=double,
            any_text=any_text,
            conversions=[count_of],
        )
        assert result.value == ["7", 14]
        assert sent == ["a"]
        told = model.requests[1].messages[-1]["content"]
        assert reason in told
        assert told.endswith("Reply with a corrected program.")


def any_text() -> object:
    return "seven"


def test_what_may_have_been_meant_is_told_of_a_value_that_does_not_fit():
    def paint(colour: Literal["red", "green"]) -> str:
        return f"painted {colour}"

    def pick() -> Any:
        return "gren"

    programs = [{"paint": {"colour": {"pick": {}}}}, {"paint": {"colour": "green"}}]
    result, model = ask(programs, "{paint} {pick}", paint=paint, pick=pick)
    assert result.value == "painted green"
    assert "did you mean green?" in model.requests[1].messages[-1]["content"]


def test_a_plan_is_kept_unrun():
    done = []

    def send(text: str) -> int:
        done.append(text)
        return len(done)

    result, _ = ask([[{"sent": "a"}], [{"send": {"text": "a"}}]], "{send}", send=send, returns=Plan)
    plan = result.value
    assert isinstance(plan, Plan)
    assert (str(plan), show(plan), done) == (*['[{"send":{"text":"a"}}]'] * 2, [])
    assert plan.calls == [{"tool": "send", "args": {"text": "a"}, "path": "/0"}]
    assert run(plan) == [1]
    assert done == ["a"]
    with pytest.raises(ProgramError, match="send was denied"):
        run(plan, on_call=lambda name, arguments: False)
    assert done == ["a"]


def test_a_plan_runs_beside_an_event_loop():
    async def main() -> object:
        asked = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wait_for_it(text: str) -> str:
            loop.call_soon_threadsafe(asked.set)
            return text

        async def shout(text: str) -> str:
            return text.upper()

        plan = Plan.read({"shout": {"text": {"wait_for_it": {"text": "a"}}}}, [shout, wait_for_it])
        value, _ = await asyncio.gather(run.aio(plan), asked.wait())
        with pytest.raises(ProgramError, match="shout was denied"):
            await run.aio(plan, on_call=lambda name, arguments: name == "wait_for_it")
        with pytest.raises(CheckError, match=r"run\(plan\): expected program"):
            await run.aio("shout")  # type: ignore[arg-type]
        return value

    assert asyncio.run(main()) == "A"


def test_registries_that_cannot_be():
    def string(text: str) -> str:
        return text

    with pytest.raises(CheckError, match="built-in type"):
        ask(["1"], "{string}", string=string)


def test_calls_of_pure_functions_run_together():
    together = threading.Barrier(3, timeout=60)

    def slow(number: int) -> int:
        together.wait()
        return number

    program = [{"slow": 1}, {"slow": 2}, {"slow": 3}]
    assert ask([program], "{slow}", slow=slow, pure=[slow])[0].value == [1, 2, 3]
    together = threading.Barrier(3, timeout=0.05)
    with pytest.raises(ProgramError, match="BrokenBarrierError"):
        ask([program], "{slow}", slow=slow)


def test_a_conversion_may_stand_in_the_template():
    result, model = ask([{"locate": {"city": "Oslo"}}, {"locate": {"city": {"name": "Oslo"}}}],
                        "{locate}", locate=locate, conversions=[locate])  # fmt: skip
    assert result.value == Point(59.9, 10.7)
    assert "conv locate" in model.requests[0].messages[0]["content"]


def test_timeout_option_bounds_the_run():
    may_end = threading.Event()

    def slow(number: int) -> int:
        may_end.wait(60)
        return number

    with pytest.raises(ProgramError, match=r"longer than 0\.1 s"):
        ask([{"slow": 1}], "{slow}", {"timeout": 0.1}, slow=slow)
    may_end.set()


def test_the_first_request_can_be_had_without_a_model():
    text = "How far is Oslo from {place}? Use {gap}."
    _, model = ask([OSLO_ROME], text, place="Rome", returns=float, options={"temperature": 0})
    question = ProgramQuestion(
        text,
        (),
        {"place": Unknown("«place»"), "gap": gap},
        float,
        options={"temperature": 0},
        conversions=[locate],
    )
    request = first_request(question)
    filled = request.messages[0]["content"].replace("«place»", '"Rome"')
    messages = [{"role": "user", "content": filled}]
    assert {**request.canonical(), "messages": messages} == model.requests[0].canonical()


def test_a_function_that_is_not_known_yet_cannot_be_described():
    question = ProgramQuestion("Use {gap}.", (), {"gap": Unknown("«gap»", kind="function")}, Plan)
    request = first_request(question)
    assert request.messages[0]["content"].startswith("Use gap.\n\n")
    assert "What it can call" not in request.messages[0]["content"]


def plan_of(written, template, **arguments):
    return ask([written], template, returns=Plan, **arguments)[0].value


def test_plans_travel_between_processes():
    plan = plan_of(OSLO_ROME, "{gap}", gap=gap, conversions=[locate])
    copy = pickle.loads(pickle.dumps(plan))
    assert (copy, str(copy), copy.calls, copy.limits) == (plan, str(plan), plan.calls, plan.limits)
    assert run(copy) == run(plan) == pytest.approx(19.8)


def test_plans_travel_with_every_kind_of_type():
    entry = {"year": 1815, "notes": [], "city": {"City": "Oslo"}}
    plan = plan_of({"publish": {"entry": entry}}, "{publish}", publish=publish)
    copy = pickle.loads(pickle.dumps(plan))
    assert run(copy) == run(plan) == "1815 in Oslo"


def test_a_result_that_holds_a_plan_travels():
    result, _ = ask([OSLO_ROME], returns=Plan)
    assert run(pickle.loads(pickle.dumps(result)).value) == pytest.approx(19.8)


def test_a_plan_that_no_longer_fits_its_functions_says_so(monkeypatch):
    entry = {"year": 1, "notes": [], "city": {"City": "Oslo"}}
    plan = plan_of({"publish": {"entry": entry}}, "{publish}", publish=publish)
    written = pickle.dumps(plan)
    monkeypatch.setitem(globals(), "publish", shelve)
    with pytest.raises(ProgramError, match="no longer fits its functions"):
        pickle.loads(written)


def test_what_a_program_failed_with_travels():
    def look(of: int) -> int:
        return ambiguous("2 of them", [option("the first", of=1)])

    for reply in ({"look": 1}, {"lock": 1}, "prose"):
        with pytest.raises(ProgramError) as caught:
            ask([reply] * 20, "{look}", look=look)
        copy = pickle.loads(pickle.dumps(caught.value))
        assert (type(copy), str(copy)) == (type(caught.value), str(caught.value))
        assert (copy.outcome, copy.attempts) == (caught.value.outcome, caught.value.attempts)
        assert copy.tool_calls == caught.value.tool_calls


def test_a_program_without_a_type_may_have_any_value():
    done = []

    def act(x: int) -> None:
        done.append(x)

    result, model = ask([{"act": {"x": 1}}], "{act}", act=act)
    assert (result.value, done, len(model.requests)) == (None, [1], 1)
    assert "The value of the program" not in model.requests[0].messages[0]["content"]
    assert ask([{"locate": {"city": {"City": "Oslo"}}}])[0].value == Point(59.9, 10.7)
    assert ask(["[1, 2]"])[0].value == [1, 2]
    assert ask([3])[0].value == 3


def test_a_kept_plan_is_read_back():
    plan = ask([OSLO_ROME], returns=Plan)[0].value
    kept = to_json(plan)
    assert kept == str(plan) == show(plan)
    assert kind(plan) == "program"
    for given in (ProgramText(kept), json.loads(kept), plan):
        again = Plan.read(given, [gap], conversions=[locate], pure=[gap])
        assert again == plan
        assert run(again) == pytest.approx(19.8)


def act(x: int) -> int:
    raise AssertionError(x)


@pytest.mark.parametrize("text", ['{"act": {"x": 1}}', "hello", "1", "[1, {}]", '"act"', ""])
def test_a_plan_that_is_a_text_stays_one(text):
    plan = ask([json.dumps(text)], "{act}", act=act, returns=Plan)[0].value
    assert (plan.program, plan.calls) == (text, [])
    assert json.loads(str(plan)) == text
    kept = json.loads(to_json(plan))
    fenced = f"```json\n{json.dumps(text)}\n```"
    for again in (
        Plan.read(kept, {"act": act}),
        Plan.read(ProgramText(to_json(plan)), {"act": act}),
        pickle.loads(pickle.dumps(plan)),
        ask([fenced], "{act}", act=act, returns=Plan)[0].value,
    ):
        assert again == plan
        assert run(again) == text
    assert ask([json.dumps(text)], "{act}", act=act)[0].value == text


def test_a_chosen_text_stays_one():
    def find() -> str:
        ambiguous("which?", [option("this", '{"act": {"x": 1}}'), option("that", "hello")])

    for number, value in (("1", '{"act": {"x": 1}}'), ("2", "hello")):
        result, _ = ask([{"find": {}}, number], "{find} {act}", find=find, act=act)
        assert result.value == value


def test_a_kept_plan_that_does_not_fit_is_an_error():
    with pytest.raises(ProgramError) as caught:
        Plan.read({"gup": {"a": 1}}, {"gap": gap})
    assert caught.value.message == (
        "the program cannot be run: unknown function 'gup', did you mean gap? (at (root))"
    )
    assert isinstance(caught.value.outcome, ProgramFailure)
    with pytest.raises(ProgramError, match=r"in 2 ways \(at /note/texts\)"):

        def note(texts: list[str]) -> None: ...

        Plan.read({"note": {"texts": "a,b"}}, [note])
    with pytest.raises(ProgramError, match="not JSON"):
        Plan.read(ProgramText("gap(1, 2)"), [gap])


@pytest.mark.parametrize("given", ['{"gap": 1}', {"gap": 1}, 5, None])
def test_only_a_plan_runs(given):
    with pytest.raises(CheckError, match=r"run\(plan\): expected program, got .*parse\(text\)"):
        run(given)
    with pytest.raises(CheckError, match="value: expected program, got"):
        check(given, Plan)
