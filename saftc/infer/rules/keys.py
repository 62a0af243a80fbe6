"""The key functions of `sorted`, `min` and `max`: `sorted(notes, by: words)`.

`by` is a function of one element that returns a value that `<` can compare: a number, a string or a
date. If the types prove that, the output uses Python's `key=`.
"""

from saftc.diagnostics import catalogue
from saftc.infer.parameters import passed
from saftc.infer.rules.context import Inference
from saftc.syntax import nodes as n
from saftc.types.builtins import BUILTINS, ORDERED, ORDERED_KINDS, VALUE, Param, taken_words, takes
from saftc.types.relations import Assignability, fit
from saftc.types.types import (
    NEVER,
    BuiltinType,
    FunctionType,
    Type,
    is_none_of,
    is_only,
    kinds,
    members,
    show,
    union,
)


def is_proved_key(inference: Inference, by: n.Expression, element: Type) -> bool:
    """Whether the function `by` certainly accepts an element and returns an orderable key.

    A function that is certainly wrong is reported.
    """
    function = inference.facts.types[by]
    match function:
        case FunctionType(name=name, definition=definition):
            known = inference.facts.functions[definition]
            if 0 in known.from_calls and inference.facts.is_own(definition):
                inference.reach(definition)
                inference.take(definition, 0, passed(element), by)
            needed = sum(parameter.default is None for parameter in definition.parameters)
            taken = next(iter(known.parameters), NEVER)
            how, words = fit(element, taken), show(taken)
            key, is_given = inference.result_of(definition), bool(known.parameters)
        case BuiltinType(name=name):
            way = BUILTINS[name].select_overload([(None, element)])
            needed = sum(parameter.is_required for parameter in way.parameters)
            first = next(iter(way.parameters), Param("", VALUE))
            found, words = takes(first, element), taken_words(first, element)
            how = (
                Assignability.NEVER
                if found is False
                else Assignability.EXACT
                if found
                else Assignability.CHECK
            )
            key, is_given = way.result((element,)), bool(way.parameters)
        case _:
            return False
    problem = f"`{name}` takes {words}, and the elements are {show(element)}"
    if needed > 1 or not is_given:
        problem, how = f"`{name}` has {needed or 'none'}", Assignability.NEVER
    if how == Assignability.NEVER:
        inference.report(catalogue.BY_FUNCTION.at(by.span, problem=problem))
        return False
    return _is_ordered(inference, by, name, key) and how == Assignability.EXACT


def _is_ordered(inference: Inference, by: n.Expression, name: str, key: Type) -> bool:
    """Whether all keys are certainly comparable with each other, such as only numbers.

    Keys that cannot be compared are reported.
    """
    found = kinds(key)
    if not found:
        return False
    if is_none_of(key, *ORDERED_KINDS):
        hint = "sort once for each part, the last one first: `sorted` keeps the order of equals"
        told = hint if is_only(key, "tuple") else None
        problem = f"`{name}` returns {show(key)}"
        inference.report(catalogue.NO_ORDER.at(by.span, problem=problem, hint=told))
        return False
    wrong = union(one for one in members(key) if is_none_of(one, *ORDERED_KINDS))
    if wrong != NEVER:
        problem = "and `by` must return a number, a string or a date"
        inference.report(catalogue.MAY_FAIL.at(by.span, found=show(wrong), problem=problem))
    return any(found <= kind for kind in ORDERED)
