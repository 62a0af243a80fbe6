"""What becomes what: conversions by the shortest path, built-in hops, element by element."""

import datetime
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import pytest
from program_support import fixtures, registry_of

from runtime_support import BudgetSpent, ConfigError
from runtime_support.programs import (
    Ambiguity,
    Ambiguous,
    CoercionError,
    ProgramFailure,
    Registry,
    Success,
    coerce,
    evaluate,
    option,
    serialize,
)


def give(annotation: Any, *types: type, conversions=()) -> Registry:
    """A registry whose `take` gives back what it got, as the annotation says, and `any` values."""

    def take(it):
        return it

    take.__annotations__ = {"it": annotation}

    def dyn(of: Any) -> Any:
        return of

    return Registry([take, dyn], types, conversions, pure=[dyn])


HOPS = [
    (float, "4", 4.0),
    (float, 4, 4.0),
    (int | float, "4", 4),
    (int | float, " 4.5 ", 4.5),
    (int | float, "-1e3", -1000.0),
    (int, "4", 4),
    (int, 4.0, 4),
    (int, True, 1),
    (str, 4, "4"),
    (str, 4.5, "4.5"),
    (bool, 1, True),
    (bool, 0, False),
    (str, ["a", "b"], "a,b"),
    (str, [], ""),
    (list[str], "a", ["a"]),
    (list[str], [1, "b"], ["1", "b"]),
    (list[int], ["1", 2.0, True], [1, 2, 1]),
    (list[list[int]], [["1"], []], [[1], []]),
    (tuple[int, str], [1, 2], (1, "2")),
    (tuple[int, ...], ["1"], (1,)),
    (dict[str, int], {"a": "1", "b": 2}, {"a": 1, "b": 2}),
    (int | None, "4", 4),
    (int | None, None, None),
    (int | str, "4", "4"),
    (int | str, 4, 4),
    (str | int, 4, 4),
    (int | list[str], "x", ["x"]),
    (Literal["low", "high"], "low", "low"),
    (Literal[1, 2], 2, 2),
    (list[Literal["a", "b"]], "a", ["a"]),
    (str, [1, 2.5, "a"], "1,2.5,a"),
    (list[int], "1,2", [1, 2]),
    (list[int | float], "5", [5]),
    (list[float], " 1, 2.5", [1.0, 2.5]),
    (tuple[int, int], "1,2", (1, 2)),
    (list[datetime.date], "2026-01-31", [datetime.date(2026, 1, 31)]),
    (int | list[int], "5", 5),
    (int | list[int], "5,6", [5, 6]),
    (list[int], 1, [1]),
    (list[float], 1, [1.0]),
    (list[int | str], 1, [1]),
    (list[Literal[1, 2]], 2, [2]),
    (tuple[int, ...], 1, (1,)),
    (list, 1, [1]),
    (Annotated[int, "a year"], "4", 4),
    (Any, "4", "4"),
]


@pytest.mark.parametrize(("annotation", "given", "value"), HOPS)
def test_hop(annotation, given, value):
    registry = give(annotation)
    for argument in (
        given,
        {"dyn": {"of": given}},
        {"$let": {"bind": {"x": given}, "in": {"$ref": "x"}}},
    ):
        outcome = evaluate({"take": {"it": argument}}, registry)
        assert isinstance(outcome, Success), outcome
        assert outcome.value == value
        assert type(outcome.value) is type(value)


REFUSED = [
    (int | float, "four"),
    (int | float, "0x10"),
    (int | float, "1_000"),
    (int | float, "NaN"),
    (int | float, "1e999"),
    (int | float, ""),
    (int | float, None),
    (int | float, [1]),
    (int, 4.5),
    (int, "4.5"),
    (bool, 2),
    (bool, "true"),
    (bool, "1"),
    (str, True),
    (str, None),
    (str, [True]),
    (str, [[1]]),
    (list[int], "1,x"),
    (list[int], "1,,2"),
    (list[int], "1.5,2"),
    (list[int | None], "1,"),
    (str, {"a": 1, "b": 2}),
    (list[str], 1),
    (list[int], 1.5),
    (list[int], True),
    (list[list[int]], 1),
    (list[Literal[1, 2]], 3),
    (list[int], [1, "x"]),
    (tuple[int, str], [1]),
    (dict[str, int], {"a": "x", "b": 2}),
    (Literal["low", "high"], "mid"),
    (Literal[1], True),
    (list[Literal["a", "b"]], "c"),
]


@pytest.mark.parametrize(("annotation", "given"), REFUSED)
def test_refused(annotation, given):
    registry = give(annotation)
    outcome = evaluate({"take": {"it": given}}, registry)
    assert isinstance(outcome, ProgramFailure), outcome
    assert outcome.kind == "invalid"
    outcome = evaluate({"take": {"it": {"dyn": {"of": given}}}}, registry)
    assert isinstance(outcome, ProgramFailure), outcome
    assert (outcome.kind, outcome.path) == ("conversion", "/take/it")


def test_text_with_commas_has_two_readings():
    registry, _ = registry_of("text")
    expected = [{"sort_words": {"words": ["b", "a"]}}, {"sort_words": {"words": ["b,a"]}}]
    for program in ({"sort_words": {"words": "b,a"}}, {"sort_words": "b,a"}):
        outcome = evaluate(program, registry)
        assert isinstance(outcome, Ambiguous)
        assert outcome.calls == ()
        assert [one.program for one in outcome.candidates] == expected
    outcome = evaluate({"sort_words": {"words": {"upper": "b,a"}}}, registry)
    assert isinstance(outcome, Ambiguous)
    assert [evaluate(one.program, registry).value for one in outcome.candidates] == [
        ["A", "B"],
        ["B,A"],
    ]


def test_the_parts_of_a_split_text_are_trimmed():
    registry, _ = registry_of("text")
    outcome = evaluate({"sort_words": {"words": " new york, oslo ,"}}, registry)
    assert isinstance(outcome, Ambiguous)
    assert outcome.candidates[0].program == {"sort_words": {"words": ["new york", "oslo", ""]}}


def test_a_message_that_ends_in_a_point_goes_on_behind_it():
    def find(title: str) -> int:
        raise Ambiguity(f"2 books are called {title}.", [option("the later one", year=1996)])

    outcome = evaluate({"find": {"title": "Emma"}}, Registry([find]))
    assert isinstance(outcome, Ambiguous)
    assert outcome.message == (
        "2 books are called Emma. The choices are: the later one; they cannot be written as "
        "programs: find has no parameter 'year'"
    )


@dataclass(frozen=True)
class A:
    n: int


@dataclass(frozen=True)
class B:
    n: int


@dataclass(frozen=True)
class C:
    n: int


@dataclass(frozen=True)
class D:
    n: int


@dataclass(frozen=True)
class E:
    n: int


def a_b(value: A) -> B:
    return B(value.n + 1)


def b_c(value: B) -> C:
    return C(value.n + 10)


def c_d(value: C) -> D:
    return D(value.n + 100)


def d_e(value: D) -> E:
    return E(value.n + 1000)


def text_a(value: str) -> A:
    return A(len(value))


def all_e(value: list[A]) -> E:
    return E(sum(one.n for one in value))


CHAIN = (a_b, b_c, c_d, d_e)
TYPES = (A, B, C, D, E)


def test_a_conversion_that_fails_says_what_would_do():
    registry, _ = registry_of("books", "calc", "effects")
    book = {"find_book": {"title": "Ulysses"}}
    for given in (book, {"dyn": {"of": book}}):
        outcome = evaluate({"add": {"a": given, "b": 1}}, registry)
        assert isinstance(outcome, ProgramFailure)
        assert outcome.message.endswith(
            "expected number, got Book; Book can become Author, string; pages makes one of it"
        )


def test_at_most_three_conversions():
    outcome = evaluate({"take": {"it": {"A": 1}}}, give(D, *TYPES, conversions=CHAIN))
    assert outcome.value == D(112)
    outcome = evaluate({"take": {"it": {"A": 1}}}, give(E, *TYPES, conversions=CHAIN))
    assert isinstance(outcome, ProgramFailure)
    assert "expected E, got A; A can become B, C, D" in outcome.message
    for conversions in (CHAIN, (*CHAIN, text_a)):  # text to A would be a fourth
        outcome = evaluate({"take": {"it": "abc"}}, give(D, *TYPES, conversions=conversions))
        assert isinstance(outcome, ProgramFailure)


def test_conversions_start_from_any_type():
    registry = give(C, *TYPES, conversions=(*CHAIN, text_a))
    assert evaluate({"take": {"it": "abc"}}, registry).value == C(14)
    assert evaluate({"take": {"it": {"dyn": {"of": "abc"}}}}, registry).value == C(14)
    listed = give(E, *TYPES, conversions=(all_e,))
    assert evaluate({"take": {"it": [{"A": 1}, {"A": 2}]}}, listed).value == E(3)
    assert evaluate({"take": {"it": {"dyn": {"of": [{"A": 1}]}}}}, listed).value == E(1)


def test_a_conversion_goes_before_a_built_in_hop():
    def size(value: str) -> int:
        return len(value)

    registry = give(int, conversions=[size])
    assert evaluate({"take": {"it": "42"}}, registry).value == 2


def test_unions_take_the_shortest_member():
    registry = give(D | B, *TYPES, conversions=CHAIN)
    for given in ({"A": 1}, {"dyn": {"of": {"A": 1}}}):
        assert evaluate({"take": {"it": given}}, registry).value == B(2)
    assert evaluate({"take": {"it": {"C": 1}}}, registry).value == D(101)
    assert evaluate({"take": {"it": {"D": 1}}}, registry).value == D(1)
    optional = give(list[B] | None, *TYPES, conversions=CHAIN)
    assert evaluate({"take": {"it": [{"A": 1}, {"B": 5}]}}, optional).value == [B(2), B(5)]
    assert evaluate({"take": {"it": None}}, optional).value is None


def test_a_result_that_is_a_union_is_decided_by_its_value():
    def either(number: int) -> A | None:
        return A(number) if number else None

    def take(it: B | None) -> Any:
        return it

    registry = Registry([either, take], TYPES, CHAIN)
    assert evaluate({"take": {"it": {"either": 1}}}, registry).value == B(2)
    assert evaluate({"take": {"it": {"either": 0}}}, registry).value is None


def test_the_result_is_coerced_too():
    registry = give(Any, *TYPES, conversions=CHAIN)
    assert evaluate({"A": 1}, registry, returns=C).value == C(12)
    assert evaluate([{"A": 1}], registry, returns=list[B]).value == [B(2)]
    assert evaluate("5", registry, returns=float).value == 5.0
    outcome = evaluate("five", registry, returns=float)
    assert (outcome.kind, outcome.path) == ("invalid", "")


def test_two_shortest_paths_are_an_ambiguity():
    registry, _ = registry_of("vessels", "effects", "calc")
    pour = {"pour_cup": {}}

    def by(one, two, operand):
        return {two: {"value": {one: {"value": operand}}}}

    glass = ("cup_as_glass", "glass_into_tank")
    jug = ("cup_as_jug", "jug_into_tank")
    cases = [
        (pour, "/volume/of", lambda route: {"volume": {"of": by(*route, pour)}}, 0),
        ({"dyn": {"of": pour}}, "/volume/of",
         lambda route: {"volume": {"of": by(*route, {"dyn": {"of": pour}})}}, 2),
    ]  # fmt: skip
    for operand, path, candidate, calls in cases:
        outcome = evaluate({"volume": {"of": operand}}, registry)
        assert isinstance(outcome, Ambiguous)
        assert outcome.message == "Cup can become Tank in 2 ways"
        assert outcome.points[0].path == path
        assert len(outcome.calls) == calls
        assert [one.program for one in outcome.candidates] == [candidate(glass), candidate(jug)]
        assert [evaluate(one.program, registry).value for one in outcome.candidates] == [200, 201]


@pytest.mark.parametrize("dynamic", [False, True])
def test_paths_for_each_element(dynamic):
    fixtures, _ = registry_of("vessels")
    named = {one.name: one.function for one in fixtures.definitions.values()}
    cup, tank = named["Cup"], named["Tank"]

    def cups() -> list:
        return [cup(1), cup(2)]

    def pour(them) -> Any:
        return them

    cups.__annotations__ = {"return": list if dynamic else list[cup]}
    pour.__annotations__ = {"them": list[tank]}
    conversions = [one.function for one in fixtures.conversions]
    types = [cup, named["Glass"], named["Jug"], tank]
    registry = Registry([cups, pour], types, conversions)
    outcome = evaluate({"pour": {"them": {"cups": {}}}}, registry)
    assert isinstance(outcome, Ambiguous)
    assert "Cup can become Tank in 2 ways" in outcome.message
    if not dynamic:
        values = [evaluate(one.program, registry).value for one in outcome.candidates]
        assert values == [[tank(1), tank(2)], [tank(2), tank(3)]]
    else:  # one point per element; a choice leaves the other open
        assert len(outcome.points) == 2
        again = evaluate(outcome.candidates[0].program, registry)
        assert isinstance(again, Ambiguous)
        assert evaluate(again.candidates[1].program, registry).value == [tank(1), tank(3)]


def test_ambiguous_conversions():
    registry, _ = registry_of("places", "effects")
    springfield, oslo = {"City": {"name": "Springfield"}}, {"City": {"name": "Oslo"}}
    outcome = evaluate({"gap": {"a": springfield, "b": springfield}}, registry)
    assert [point.path for point in outcome.points] == ["/gap/a", "/gap/b"]
    assert len(outcome.candidates) == 4
    again = evaluate(outcome.candidates[0].program, registry)
    assert [point.path for point in again.points] == ["/gap/b"]
    assert isinstance(evaluate(again.candidates[0].program, registry), Success)
    stops = {"dyn": {"of": [oslo, springfield]}}
    outcome = evaluate({"Route": {"stops": stops, "meta": {}}}, registry)
    assert isinstance(outcome, Ambiguous)
    ohio = evaluate(outcome.candidates[1].program, registry)
    assert [one.lat for one in ohio.value.stops] == [59.9, 39.9]


EMMA = {"find_book": {"title": {"$ref": "t"}}}


@pytest.mark.parametrize(
    "program",
    [
        {"$map": {"over": ["Emma"], "as": "t", "do": EMMA}},
        {"$map": {"over": ["Emma", "Emma"], "as": "t", "do": EMMA}},
        {
            "$map": {
                "over": [["Ulysses"], ["Emma"]],
                "as": "row",
                "do": {"$map": {"over": {"$ref": "row"}, "as": "t", "do": EMMA}},
            }
        },
    ],
)
def test_a_choice_in_a_map_is_told_in_words(program):
    registry, _ = registry_of("books")
    outcome = evaluate(program, registry)
    assert isinstance(outcome, Ambiguous)
    assert [point.path.endswith("/$map/do") for point in outcome.points] == [True]
    assert outcome.candidates == ()
    assert outcome.message == (
        "2 books are called Emma. The choices are: the 1815 edition; the 1996 edition"
    )
    assert "Reply with one program or its number" not in str(outcome)


def test_where_of_a_map_leaves_out_what_would_be_unclear():
    registry, _ = registry_of("books", "calc", "text")
    where = {"less": {"a": 4, "b": {"length": {"text": {"$ref": "t"}}}}}
    program = {"$map": {"over": ["Emma", "Ulysses"], "as": "t", "where": where, "do": EMMA}}
    assert isinstance(evaluate(program, registry), Success)


def test_independent_ambiguities_are_reported_together_and_inner_ones_alone():
    registry, _ = registry_of("books", "vessels", "effects")
    emma = {"find_book": "Emma"}
    outcome = evaluate({"x": {"pages": {"book": emma}}, "y": [emma]}, registry)
    assert [point.path for point in outcome.points] == ["/x/pages/book", "/y/0"]
    for candidate in outcome.candidates:
        assert len(evaluate(candidate.program, registry).points) == 1
    nested = {"volume": {"of": {"dyn": {"of": {"volume": {"of": {"pour_cup": {}}}}}}}}
    assert [one.path for one in evaluate(nested, registry).points] == [
        "/volume/of/dyn/of/volume/of"
    ]


class LatLon(TypedDict):
    lat: float
    lon: float


@dataclass(frozen=True)
class Point:
    lat: float
    lon: float = 0.0


def test_records_fit_by_their_fields():
    for annotation, value in ((LatLon, {"lat": 1.0, "lon": 2.0}), (Point, Point(1.0, 2.0))):
        registry = give(annotation, Point)
        for given in (
            {"lat": 1, "lon": "2"},
            {"$object": {"lat": 1, "lon": "2"}},
            {"dyn": {"of": {"lat": 1, "lon": "2"}}},
            {"$let": {"bind": {"p": {"lat": 1, "lon": "2"}}, "in": {"$ref": "p"}}},
        ):
            outcome = evaluate({"take": {"it": given}}, registry)
            assert isinstance(outcome, Success), outcome
            assert outcome.value == value
            assert isinstance(outcome.value, type(value))
    registry = give(Point, Point)
    assert evaluate({"take": {"it": {"lat": 1}}}, registry).value == Point(1.0)
    assert evaluate(
        {"take": {"it": {"dyn": {"of": {"$object": {"lat": 1}}}}}}, registry
    ).value == Point(1.0)
    both = give(Point | dict[str, Any], Point)
    assert evaluate({"take": {"it": {"lat": 1, "lon": 2}}}, both).value == {"lat": 1, "lon": 2}


def test_one_key_is_a_call_where_a_callable_has_the_name():
    def lat(of: int) -> float:
        return of * 2.0

    def take(it: Point) -> Point:
        return it

    registry = Registry([lat, take], [Point])
    outcome = evaluate({"take": {"it": {"lat": 1}}}, registry)
    assert isinstance(outcome, ProgramFailure)
    assert "expected Point, got number" in outcome.message
    assert serialize(
        evaluate({"take": {"it": {"lat": 1, "lon": 2}}}, registry).value, registry
    ) == {"Point": {"lat": 1.0, "lon": 2.0}}


@pytest.mark.parametrize(("annotation", "given", "expected"), HOPS)
def test_a_value_outside_a_program_is_coerced_alike(annotation, given, expected):
    value = coerce(given, annotation)
    assert value == expected and type(value) is type(expected)


def test_conversions_of_a_value_outside_a_program():
    functions = fixtures.fixtures(["books", "vessels"], Ambiguity, option)[2]
    author_of, name_of, *vessels = functions
    book = fixtures.Book("Ulysses", 1922)
    assert coerce(book, str, [author_of, name_of]) == "Joyce"
    assert coerce([book], list[fixtures.Author], [author_of]) == [fixtures.Author("Joyce")]
    assert coerce({"title": "Emma", "year": 1815}, fixtures.Book) == fixtures.Book("Emma", 1815)
    with pytest.raises(CoercionError, match="Cup can become Tank in 2 ways"):
        coerce(fixtures.Cup(1), fixtures.Tank, vessels)


def test_a_number_of_many_digits_is_read():
    assert coerce("1" * 400, int) == int("1" * 400)
    with pytest.raises(CoercionError, match="expected number"):
        coerce("1" * 400, float)


def test_a_value_that_cannot_be_coerced():
    with pytest.raises(CoercionError, match='expected number, got string: "two" is not a number'):
        coerce("two", float)

    def failing(value: str) -> float:
        raise LookupError(value)

    with pytest.raises(CoercionError, match="failing: LookupError: two"):
        coerce("two", float, [failing])


def test_a_conversion_is_given_what_its_parameter_asks_for():
    def day_of(day: datetime.date) -> A:
        return A(day.day)

    def half_of(number: float) -> B:
        return B(round(number.hex() == "0x1.0000000000000p+2"))

    registry = give(A | B, A, B, conversions=(day_of, half_of))
    for given, value in (("2026-01-31", A(31)), (4, B(1))):
        for argument in (given, {"dyn": {"of": given}}):
            outcome = evaluate({"take": {"it": argument}}, registry)
            assert isinstance(outcome, Success), outcome
            assert outcome.value == value
    assert coerce("2026-01-31", A, [day_of]) == A(31)


@pytest.mark.parametrize(
    "stop", [KeyboardInterrupt(), SystemExit(3), ConfigError("no key"), BudgetSpent("spent")]
)
def test_what_ends_a_run_goes_through_a_conversion(stop):
    def a_of(value: B) -> A:
        raise stop

    with pytest.raises(type(stop)):
        coerce(B(1), A, [a_of])


def test_a_union_may_be_reached_as_text_and_as_a_boolean():
    outcome = evaluate({"take": {"it": 1}}, give(str | bool))
    assert isinstance(outcome, Ambiguous)
    assert [one.program for one in outcome.candidates] == [
        {"take": {"it": "1"}},
        {"take": {"it": True}},
    ]
    with pytest.raises(CoercionError, match="in 2 ways"):
        coerce(1, str | bool)
