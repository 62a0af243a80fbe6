"""Choices of functions that the functions and conversions of a program call: told in words."""

import asyncio
from dataclasses import dataclass

import pytest

from runtime_support import ProgramError
from runtime_support.programs import (
    Ambiguity,
    Ambiguous,
    Registry,
    ambiguous,
    evaluate,
    option,
)
from runtime_support.programs._prompting import program
from runtime_support.testing import Scripted


@dataclass(frozen=True)
class Selection:
    text: str


@dataclass(frozen=True)
class Symbol:
    name: str
    file: str


WHICH = "The symbol is in multiple places. Which did you mean?"
selected: list[str] = []


def get_selection() -> Selection:
    selected.append("emma")
    return Selection("emma")


def find_symbol(name: str, file: str | None = None) -> Symbol:
    if file is None:
        raise Ambiguity(WHICH, [option(f"in {one}", file=one) for one in ("a.py", "b.py")])
    return Symbol(name, file)


def find_by_value(name: str) -> Symbol:
    ambiguous(WHICH, [option(f"in {one}", Symbol(name, one)) for one in ("a.py", "b.py")])


async def find_later(name: str, file: str | None = None) -> Symbol:
    await asyncio.sleep(0)
    return find_symbol(name, file)


def references(symbol: Symbol) -> str:
    return f"{symbol.name} in {symbol.file}"


def direct(selection: Selection) -> Symbol:
    return find_symbol(selection.text)


def by_value(selection: Selection) -> Symbol:
    return find_by_value(selection.text)


async def later(selection: Selection) -> Symbol:
    return await find_later(selection.text)


def after_work(selection: Selection) -> Symbol:
    found = find_symbol(selection.text)
    return Symbol(found.name.upper(), found.file)


def value_after_work(selection: Selection) -> Symbol:
    return Symbol(find_by_value(selection.text).name, "c.py")


def through_builtin(selection: Selection) -> Symbol:
    return max([selection.text], key=find_symbol)  # type: ignore


def has_own(selection: Selection) -> Symbol:
    raise Ambiguity(WHICH, [option("in c", nothing="c")])


by_lambda = lambda selection: find_symbol(selection.text)  # noqa: E731
by_lambda.__name__ = "by_lambda"
by_lambda.__annotations__ = {"selection": Selection, "return": Symbol}

PROGRAM = {"references": {"symbol": {"get_selection": {}}}}
FINDERS = [find_symbol, find_by_value, find_later]


def registry_with(conversion):
    return Registry([references, get_selection, *FINDERS], [Symbol, Selection], [conversion])


@pytest.mark.parametrize(
    "conversion",
    [direct, by_value, later, by_lambda, after_work, value_after_work, through_builtin, has_own],
)
def test_what_cannot_be_written_is_told(conversion):
    outcome = evaluate(PROGRAM, registry_with(conversion))
    assert isinstance(outcome, Ambiguous), outcome
    assert outcome.candidates == ()
    assert f"{WHICH} The choices are: in " in str(outcome)
    assert "?," not in str(outcome)
    right = {"references": {"symbol": {"find_symbol": {"name": "emma", "file": "a.py"}}}}
    model = Scripted([_text(PROGRAM), _text(right)])
    functions = {one.__name__: one for one in (references, get_selection, *FINDERS)}
    result = program(
        " ".join(f"{{{name}}}" for name in functions),
        **functions,
        conversions=[conversion],
        options={"provider": model},
    )
    assert result.value == "emma in a.py"
    assert "The choices are: in " in model.requests[1].messages[-1]["content"]


def test_an_option_is_one_of_the_function_that_the_program_calls():
    def first(name: str) -> Symbol:
        return find_symbol(name)

    registry = Registry([first, find_symbol], [Symbol])
    outcome = evaluate([{"first": "emma"}], registry)
    assert isinstance(outcome, Ambiguous)
    assert outcome.candidates == ()
    assert outcome.message == (
        f"{WHICH} The choices are: in a.py; in b.py; they cannot be written as programs: "
        "something that first calls could not decide"
    )
    own = evaluate([{"find_symbol": {"name": "emma"}}], registry)
    assert [one.program for one in own.candidates] == [
        [{"find_symbol": {"name": "emma", "file": file}}] for file in ("a.py", "b.py")
    ]


def test_a_value_is_not_that_of_a_call_that_goes_on_with_it():
    def year_of(title: str) -> int:
        ambiguous("which?", [option("the first", 1815), option("the second", 1996)])

    def age_of(title: str) -> int:
        return 2000 - year_of(title)

    registry = Registry([year_of, age_of])
    outcome = evaluate({"age_of": "Emma"}, registry)
    assert isinstance(outcome, Ambiguous)
    assert outcome.candidates == ()
    assert "something that age_of calls could not decide" in outcome.message
    years = [one.program for one in evaluate({"year_of": "Emma"}, registry).candidates]
    assert years == [1815, 1996]


def test_it_ends_when_the_model_never_chooses():
    with pytest.raises(ProgramError, match="Which did you mean"):
        program(
            "{references} {get_selection}",
            references=references,
            get_selection=get_selection,
            conversions=[direct],
            options={"provider": Scripted([_text(PROGRAM)] * 3), "max_tool_rounds": 2},
        )


def _text(given):
    import json

    return json.dumps(given)


def points_of(program, registry):
    outcome = evaluate(program, registry)
    assert isinstance(outcome, Ambiguous), outcome
    return [point.path for point in outcome.points]


def test_places_are_told_together_where_nothing_is_called():
    """Also without `pure`: an equal call says the same, and what needs no call is looked at."""
    made = []

    def pick(name: str) -> str:
        made.append(name)
        ambiguous("which?", [option("this", "a"), option("that", "b")])

    def note(text: str) -> int:
        made.append(text)
        return len(made)

    def words(of: list[str]) -> int:
        return len(of)

    def texts(of: object) -> object:
        return of

    registry = Registry([pick, note, words, texts])
    emma = {"pick": {"name": "Emma"}}
    assert points_of([emma, emma, {"x": [emma], "y": 1}], registry) == ["/0", "/1", "/2/x/0"]
    assert made == ["Emma"]
    assert points_of([emma, {"note": {"text": "b"}}, emma], registry) == ["/0", "/2"]
    assert points_of([emma, {"pick": {"name": "Ulysses"}}], registry) == ["/0"]
    assert made == ["Emma", "Emma", "Emma"]
    bound = {"x": {"texts": {"of": "a,b"}}}
    program = {"$let": {"bind": bound, "in": [{"words": {"of": {"$ref": "x"}}}] * 2}}
    assert points_of(program, registry) == ["/$let/in/0/words/of", "/$let/in/1/words/of"]


def test_an_option_may_mean_another_function():
    def extract(selection: Selection) -> Symbol:
        ambiguous(
            WHICH,
            [
                option(f"in {one}", call=find_symbol, name=selection.text, file=one)
                for one in ("a.py", "b.py")
            ],
        )

    outcome = evaluate(PROGRAM, registry_with(extract))
    found = [{"find_symbol": {"name": "emma", "file": file}} for file in ("a.py", "b.py")]
    assert isinstance(outcome, Ambiguous)
    assert [one.program for one in outcome.candidates] == [
        {"references": {"symbol": one}} for one in found
    ]
    assert evaluate(outcome.candidates[1].program, registry_with(extract)).value == "emma in b.py"
    spelled = {"references": {"symbol": {"extract": {"selection": {"get_selection": {}}}}}}
    assert [one.program for one in evaluate(spelled, registry_with(extract)).candidates] == [
        one.program for one in outcome.candidates
    ]
    unknown = Registry([references, get_selection], [Symbol, Selection], [extract])
    told = evaluate(PROGRAM, unknown)
    assert isinstance(told, Ambiguous)
    assert told.candidates == ()
    assert "a program cannot call find_symbol" in told.message


def test_an_option_means_one_thing():
    for make in (
        lambda: option("a", 1, call=find_symbol),
        lambda: option("a", call="find_symbol"),  # type: ignore[arg-type]
        lambda: option("a"),
    ):
        with pytest.raises(TypeError):
            make()
