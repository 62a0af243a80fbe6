"""What `sorted`, `min` and `max` order by: `sorted(notes, by: words)`.

`by` takes a function of one element, which gives what `<` compares: a number, a string or a date.
Where that is proved, Python's own `key=` does the same.
"""

from saftc.diagnostics import catalogue
from saftc.semantics.builtins import BUILTINS, ORDERED, ORDERED_KINDS, taken_words, takes
from saftc.semantics.inference.context import Inference
from saftc.semantics.parameters import passed
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
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
from saftc.syntax import nodes as n


def is_proved_key(inference: Inference, by: n.Expression, element: Type) -> bool:
    """Whether the function `by` certainly takes an element, and gives what can be ordered; reports
    it when it certainly does not.
    """
    match inference.facts.types[by]:
        case FunctionType() as function:
            takes_it = _takes(inference, by, function, element)
            key = inference.result_of(function.definition) if takes_it is not False else NEVER
        case BuiltinType() as function:
            takes_it = _builtin_takes(inference, by, function, element)
            way = BUILTINS[function.name].meant([(None, element)])
            key = way.result((element,)) if takes_it is not False else NEVER
        case _:
            return False
    return _is_ordered(inference, by, key) and takes_it is True


def _takes(
    inference: Inference, by: n.Expression, function: FunctionType, element: Type
) -> bool | None:
    """Whether the function certainly takes an element (True), certainly not (False), or neither."""
    parameters = function.definition.parameters
    needed = sum(parameter.default is None for parameter in parameters)
    if not parameters or needed > 1:
        _report_count(inference, by, function.name, needed if parameters else 0)
        return False
    known = inference.facts.functions[function.definition]
    if 0 in known.from_calls and inference.facts.is_own(function.definition):
        inference.reach(function.definition)
        inference.take(function.definition, 0, passed(element), by)
    wanted = known.parameters[0]
    how = fit(element, wanted)
    if how == Fit.NEVER:
        _report_element(inference, by, function.name, show(wanted), element)
        return False
    return True if how == Fit.EXACT else None


def _builtin_takes(
    inference: Inference, by: n.Expression, function: BuiltinType, element: Type
) -> bool | None:
    way = BUILTINS[function.name].meant([(None, element)])
    needed = sum(parameter.is_required for parameter in way.parameters)
    if needed > 1:
        _report_count(inference, by, function.name, needed)
        return False
    found = takes(way.parameters[0], element)
    if found is False:
        wanted = taken_words(way.parameters[0], element)
        _report_element(inference, by, function.name, wanted, element)
    return found


def _is_ordered(inference: Inference, by: n.Expression, key: Type) -> bool:
    """Whether all keys are certainly numbers, strings, or of one kind of dates and the like."""
    found = kinds(key)
    if not found:
        return False
    name = inference.facts.types[by]
    assert isinstance(name, FunctionType | BuiltinType)
    if is_none_of(key, *ORDERED_KINDS):
        is_tuple = is_only(key, "tuple")
        hint = "sort by one part at a time, the last one first: `sorted` keeps the order of equals"
        inference.report(
            catalogue.NO_ORDER.at(
                by.span,
                problem=f"`{name.name}` returns {show(key)}",
                hint=hint if is_tuple else None,
            )
        )
        return False
    wrong = union(one for one in members(key) if is_none_of(one, *ORDERED_KINDS))
    if wrong != NEVER:
        problem = "and `by` must return a number, a string or a date"
        inference.may_fail(by, wrong, problem)
    return any(found <= kind for kind in ORDERED)


def _report_count(inference: Inference, by: n.Expression, name: str, needed: int) -> None:
    problem = f"`{name}` has {needed or 'none'}"
    inference.report(catalogue.BY_FUNCTION.at(by.span, problem=problem))


def _report_element(
    inference: Inference, by: n.Expression, name: str, wanted: str, element: Type
) -> None:
    problem = f"`{name}` takes {wanted}, and the elements are {show(element)}"
    inference.report(catalogue.BY_FUNCTION.at(by.span, problem=problem))
