"""The laws of programs.md as properties, over generated registries, values and programs."""

import json
from dataclasses import field, make_dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from program_support import registry_of

from runtime_support.ops import to_json
from runtime_support.programs import Limits, ProgramText, Registry, Success, evaluate, serialize
from runtime_support.programs._prompting import Plan, run
from runtime_support.programs._syntax import at, replace_at

ROOMY = Limits(depth=100, nodes=100_000, calls=100_000, items=100_000, bytes=10_000_000)
FAST = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)

texts = st.text(max_size=5)
names = st.sampled_from(["a", "b", "lat", "$ref", "$let", "Record0", "x y", ""])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts
)

# A type is a pair: the annotation, and a strategy for its values.
SCALAR_TYPES = [
    (int, st.integers()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (bool, st.booleans()),
    (str, texts),
    (int | float, st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))),
]


@st.composite
def registries(draw):
    """A registry of one to three record types, and a strategy for values of it."""
    known = list(SCALAR_TYPES)
    records = []
    for number in range(draw(st.integers(1, 3))):
        fields = []
        for index in range(draw(st.integers(0, 3))):
            annotation, values = draw(st.sampled_from(known))
            shape = draw(st.sampled_from(["plain", "list", "optional", "map", "pair", "default"]))
            name, more = f"f{index}", {}
            if shape == "list":
                annotation, values = list[annotation], st.lists(values, max_size=3)
                more = {"default_factory": list}
            elif shape == "optional":
                annotation, values = annotation | None, st.one_of(st.none(), values)
                more = {"default": None}
            elif shape == "map":
                annotation = dict[str, annotation]
                values = st.dictionaries(names, values, max_size=3)
                more = {"default_factory": dict}
            elif shape == "pair":
                annotation, values = tuple[annotation, str], st.tuples(values, texts)
                more = {"default": None}
            elif shape == "default":
                more = {"default": draw(values)}
                if more["default"].__hash__ is None:
                    more = {"default_factory": lambda kept=more["default"]: kept}
            fields.append((name, annotation, values, more))
        record = make_dataclass(
            f"Record{number}",
            [(name, annotation, field(**more)) for name, annotation, _, more in reversed(fields)]
            if all(more for *_, more in fields)
            else [(name, annotation) for name, annotation, _, _ in fields],
            frozen=True,
            eq=True,
        )
        values = st.builds(record, **{name: values for name, _, values, _ in fields})
        records.append(record)
        known.append((record, values))
    strategies = [values for _, values in known]
    leaves = st.one_of(scalars, *strategies)
    value = st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)
        ),
        max_leaves=8,
    )
    return Registry(types=records), value


@FAST
@given(st.data())
def test_a_value_survives_its_program(data):
    registry, values = data.draw(registries())
    value = data.draw(values)
    program = serialize(value, registry)
    outcome = evaluate(ProgramText(json.dumps(program)), registry, limits=ROOMY)
    assert isinstance(outcome, Success), outcome
    assert outcome.value == value
    assert serialize(outcome.value, registry) == program


@st.composite
def program_like_texts(draw):
    """Texts that would be programs if anybody read them as such."""
    name = draw(st.sampled_from(["act", "ac", "$let", "$object", "x"]))
    body = draw(st.sampled_from([{}, {"x": 1}, 1, None, [1], {"bind": {}, "in": {"act": {}}}]))
    text = json.dumps({name: body})
    return json.dumps(text) if draw(st.booleans()) else text


@FAST
@given(
    st.recursive(
        st.one_of(scalars, program_like_texts()),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(program_like_texts(), inner, max_size=3)
        ),
        max_leaves=6,
    )
)
def test_no_value_becomes_a_call(value):
    called = []
    tools = {"act": lambda x=0: called.append(x)}
    program = serialize(value, Registry(tools))
    for given_ in (program, json.loads(json.dumps(program)), ProgramText(json.dumps(program))):
        outcome = evaluate(given_, Registry(tools), limits=ROOMY)
        assert isinstance(outcome, Success), outcome
        assert outcome.value == value
        assert outcome.calls == ()
        assert run(Plan.read(given_, tools)) == value
    plan = Plan.read(program, tools)
    assert run(Plan.read(json.loads(to_json(plan)), tools)) == value
    assert called == []


# Programs over the fixtures, by the type that they are meant to give; coercion does the rest.


def call(name, **arguments):
    return st.fixed_dictionaries(arguments).map(lambda given: {name: given})


def programs():
    number, text, flag, book, point = (
        st.deferred(lambda: numbers),
        st.deferred(lambda: texts_),
        st.deferred(lambda: flags),
        st.deferred(lambda: books),
        st.deferred(lambda: points),
    )

    def forms(inner):
        return [
            st.builds(
                lambda t, a, b: {"$if": {"test": t, "then": a, "else": b}}, flag, inner, inner
            ),
            st.builds(lambda v, e: {"$let": {"bind": {"x": v}, "in": e}}, number, inner),
            inner.map(lambda e: {"$let": {"bind": {"y": e}, "in": {"$ref": "y"}}}),
            inner.map(lambda e: {"dyn": {"of": e}}),
        ]

    numbers = st.one_of(
        st.integers(-5, 5),
        st.sampled_from(["1", "2.5", True]),
        call("add", a=number, b=number),
        call("total", items=st.lists(number, max_size=3)),
        call("length", text=text),
        call("pages", book=book),
        call("gap", a=point, b=point),
        call("only", box=st.fixed_dictionaries({"size": number})),
        *forms(number),
    )
    texts_ = st.one_of(
        st.sampled_from(["ab", "z", "7"]),
        call("upper", text=text),
        text.filter(lambda t: not isinstance(t, dict)).map(lambda t: {"upper": t}),
        call("greet", author=book),
        call("near", where=st.fixed_dictionaries({"lat": number, "lon": number})),
        book,
        *forms(text),
    )
    flags = st.one_of(st.booleans(), st.sampled_from([0, 1]), call("less", a=number, b=number))
    books = st.one_of(
        st.sampled_from(["Ulysses", "Persuasion"]).map(lambda t: {"find_book": {"title": t}}),
        *forms(book),
    )
    points = st.one_of(
        st.fixed_dictionaries({"lat": number, "lon": number}),
        st.sampled_from(["Oslo", "Rome"]).map(lambda name: {"City": {"name": name}}),
        call("Point", lat=number, lon=number),
        *forms(point),
    )
    mapped = st.builds(
        lambda over, do: {"$map": {"over": over, "as": "n", "do": do}},
        st.lists(number, max_size=3),
        st.one_of(st.just({"$ref": "n"}), st.just({"add": {"a": {"$ref": "n"}, "b": 1}}), text),
    )
    sorted_ = call("sort_words", words=st.one_of(mapped, st.lists(text, max_size=2)))
    records = st.fixed_dictionaries({"n": number, "p": point})
    return st.one_of(numbers, texts_, points, sorted_, mapped, records)


def references(expression):
    """The variables that the expression refers to and does not bind itself."""
    if isinstance(expression, list):
        return set().union(*map(references, expression))
    if not isinstance(expression, dict):
        return set()
    match expression:
        case {"$ref": str(name)}:
            return {name}
        case {"$let": {"bind": bound, "in": body}}:
            return references([*bound.values(), body]) - bound.keys()
        case {"$map": {"over": over, "as": name, "do": do, **more}}:
            return references(over) | (references([do, more.get("where")]) - {name})
        case _:
            return set().union(*map(references, expression.values()))


def expressions_in(value):
    """The expressions directly in this one, with their paths from it.

    The object of a call's arguments is not itself an expression, nor is that of a form.
    """
    match value:
        case list():
            return [(item, (index,)) for index, item in enumerate(value)]
        case {"$let": {"bind": dict(bound), "in": body}}:
            bindings = [(one, ("$let", "bind", name)) for name, one in bound.items()]
            return [*bindings, (body, ("$let", "in"))]
        case dict() if len(value) == 1 and isinstance(next(iter(value.values())), dict):
            ((name, body),) = value.items()
            return [(one, (name, key)) for key, one in body.items()]
        case dict():
            return [(one, (name,)) for name, one in value.items()]
        case _:
            return []


def closed_parts(program):
    """The paths of all expressions in the program that refer to nothing outside themselves."""
    pending, found = [(program, ())], []
    while pending:
        expression, path = pending.pop()
        if not references(expression):
            found.append(path)
        pending += [(child, (*path, *more)) for child, more in expressions_in(expression)]
    return found


@FAST
@given(program=programs(), data=st.data())
def test_a_closed_part_may_be_replaced_by_its_value(program, data):
    registry, _ = registry_of("calc", "text", "books", "places", "effects")
    whole = evaluate(ProgramText(json.dumps(program)), registry, limits=ROOMY)
    if not isinstance(whole, Success):
        return
    path = data.draw(st.sampled_from(closed_parts(program)))
    part = evaluate(ProgramText(json.dumps(at(program, path))), registry, limits=ROOMY)
    if not isinstance(part, Success):  # a record of one field is one only where it is expected
        return
    put = replace_at(program, path, serialize(part.value, registry))
    outcome = evaluate(ProgramText(json.dumps(put)), registry, limits=ROOMY)
    assert isinstance(outcome, Success), (put, outcome)
    assert outcome.value == whole.value
    assert kinds(outcome.value) == kinds(whole.value)


def kinds(value: Any) -> Any:
    if isinstance(value, list):
        return [kinds(item) for item in value]
    if isinstance(value, dict):
        return {key: kinds(item) for key, item in value.items()}
    return type(value)
