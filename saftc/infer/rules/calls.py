"""Calls: how arguments match parameters, and the types of results."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from saftc.check.facts import Facts, RecordFacts
from saftc.check.forms import (
    Attribute,
    BuiltinCall,
    CallForm,
    DirectCall,
    Form,
    arguments_by_position,
    is_settled,
)
from saftc.check.statements import all_statements, bound_by
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.diagnostics.near import did_you_mean
from saftc.infer.failures import path_of
from saftc.infer.rules.context import Inference
from saftc.infer.rules.environment import Environment
from saftc.infer.rules.expected import fit_into, is_zero, pass_argument
from saftc.infer.rules.hints import argument_hint, conversion_hint, date_hint, listed
from saftc.infer.rules.keys import is_proved_key
from saftc.syntax import nodes as n
from saftc.syntax.mistakes.habits import ABSENT_ARGUMENTS
from saftc.syntax.walk import walk
from saftc.types.builtins import (
    BUILTINS,
    ITEMS,
    KEYED,
    Builtin,
    Overload,
    Param,
    key_type,
    possible_items,
    taken_words,
    takes,
    wrong_members,
)
from saftc.types.dates import METHODS_OF_DATES, is_read
from saftc.types.foreign import Function
from saftc.types.operators import operate
from saftc.types.results import HISTORY_ONLY
from saftc.types.types import (
    ANY,
    DATES,
    NEVER,
    NIL,
    BuiltinType,
    CallableType,
    FunctionType,
    ListType,
    ObjectType,
    Type,
    is_only,
    item_type,
    members,
    show,
    union,
)


def call(inference: Inference, node: n.Call, env: Environment) -> Type:
    """The type of a call's result."""
    function = inference.expression(node.function, env)
    record = inference.facts.record_of(node.function)
    if record is not None:
        inference.facts.forms.calls[node] = DirectCall(record.node)
        return _construct(inference, node, record, env)
    given = _of_date(inference, node, env)
    if given is not None:
        return given
    match function:
        case FunctionType():
            inference.facts.forms.calls[node] = DirectCall(function.definition)
            return _call_function(inference, node, function, env)
        case BuiltinType():
            return _call_builtin(inference, node, BUILTINS[function.name], env)
        case CallableType():
            inference.facts.forms.calls[node] = Form.NATIVE
            return _call_callable(inference, node, function, env)
        case _:
            inference.facts.forms.calls[node] = _value_form(inference.facts, node.function)
            given = _call_value(inference, node, function, env)
            return given if function != ANY else inference.facts.type_in_python(node)


def _of_date(inference: Inference, node: n.Call, env: Environment) -> Type | None:
    """The result type if `node` calls a Python method of a date, duration or decimal, or None."""
    facts, function = inference.facts, node.function
    if not isinstance(function, n.Member):
        return None
    methods = METHODS_OF_DATES.get(facts.types.get(function.value, ANY), {})
    given = methods.get(function.name.text)
    if given is None:
        return None
    for argument in node.arguments:
        inference.expression(argument.value, env)
    facts.forms.members[function] = Attribute(function.name.text)
    facts.forms.calls[node] = DirectCall(None)
    return given


def _value_form(facts: Facts, function: n.Expression) -> CallForm:
    """The form of a call whose callee is known only at run time."""
    if facts.is_imported(function) or facts.is_method(function):
        declared = facts.declared_by_python(function)
        return DirectCall(None, declared.waits if isinstance(declared, Function) else "no")
    is_method = isinstance(function, n.Member) and facts.forms.members[function] == Form.OPS
    return Form.SEND if is_method else Form.OPS


def _call_value(inference: Inference, node: n.Call, function: Type, env: Environment) -> Type:
    """The result type of a call whose callee is known only at run time."""
    for argument in node.arguments:
        inference.expression(argument.value, env)
    results = [_result_of(inference, member) for member in members(function)]
    possible = [result for result in results if result is not None]
    if not possible and function != NEVER:
        is_length = isinstance(node.function, n.Member) and node.function.name.text == "length"
        hint = "`.length` is a number already" if is_length else None
        inference.report(
            catalogue.NOT_CALLABLE.at(node.function.span, found=show(function), hint=hint)
        )
        return ANY
    return union(possible)


def _result_of(inference: Inference, function: Type) -> Type | None:
    """The result type of calls of a value of type `function`, or None if it is no function."""
    match function:
        case FunctionType():
            return inference.result_of(function.definition)
        case CallableType():
            return function.result
        case _:
            return ANY if function == ANY or isinstance(function, BuiltinType) else None


def _call_callable(
    inference: Inference, node: n.Call, function: CallableType, env: Environment
) -> Type:
    """The result type of a call whose callee is known only by its function type.

    The parameters of a function type have no names.
    """
    given, wanted = len(node.arguments), len(function.parameters)
    name = node.function.text if isinstance(node.function, n.Name) else show(function)
    if given != wanted:
        _wrong_count(inference, node, name, wanted)
    for position, argument in enumerate(node.arguments):
        if argument.name is not None:
            hint = f"the type `{show(function)}` names no parameters"
            inference.report(
                catalogue.UNKNOWN_ARGUMENT.at(
                    argument.name.span, name=name, argument=argument.name.text, hint=hint
                )
            )
        if position < wanted and given == wanted:
            fit_into(inference, argument.value, function.parameters[position], env)
        else:
            inference.expression(argument.value, env)
    return function.result


def _call_function(
    inference: Inference, node: n.Call, function: FunctionType, env: Environment
) -> Type:
    definition = function.definition
    facts = inference.facts.functions[definition]
    inference.reach(definition)

    def give(argument: n.Expression, position: int) -> None:
        if definition.parameters[position].schema is None:
            pass_argument(inference, argument, facts, position, env)
            _check_history(inference, argument, definition, position)
        else:
            fit_into(inference, argument, facts.parameters[position], env)

    _arguments(inference, node, function.name, definition.parameters, give, env)
    return inference.result_of(definition)


def _check_history(
    inference: Inference, argument: n.Expression, definition: n.FunctionDef, position: int
) -> None:
    """Reports a prompt's plain value as an argument, if the function reads a result's history."""
    if inference.facts.result_of(argument) is None:
        return
    parameter = definition.parameters[position]
    facts = next(f for f in (inference.facts, *inference.facts.scripts) if f.is_own(definition))
    asked = _history_asked(facts, definition, parameter)
    if asked is not None:
        inference.report(
            catalogue.NO_HISTORY.at(
                argument.span,
                found=show(inference.facts.types[argument]),
                name=asked,
                hint=f"`{definition.name.text}` takes the plain value; "
                f"with `{parameter.name.text}: Result` it takes the whole result",
            )
        )


def _history_asked(facts: Facts, function: n.FunctionDef, parameter: n.Parameter) -> str | None:
    """The name of a member that `function` reads from `parameter`, if only results have it.

    Results are those of prompts. Returns None if there is no such member, or if the function
    assigns the parameter.
    """
    names, symbol = facts.names, facts.names.of(parameter.name)
    bound = (one for inner in all_statements(function.body) for one in bound_by(inner))
    if symbol in map(names.of, bound):
        return None
    members_ = (node for node in walk(function) if isinstance(node, n.Member))
    asked = (one.name.text for one in members_ if names.symbols.get(one.value) is symbol)
    return next((name for name in asked if name in HISTORY_ONLY), None)


def _construct(inference: Inference, node: n.Call, facts: RecordFacts, env: Environment) -> Type:
    """The type of a record that a call creates."""
    name = path_of(node.function) or "it"
    optional = facts.node.optional
    fields = tuple(
        replace(field, default=n.Literal(field.span, None)) if field in optional else field
        for field in facts.node.fields
    )

    def give(argument: n.Expression, position: int) -> None:
        fit_into(inference, argument, facts.fields[fields[position].name.text], env)

    if facts.is_open:
        names = list(facts.fields)
        for argument in node.arguments:
            if argument.name is not None and argument.name.text in names:
                give(argument.value, names.index(argument.name.text))
            else:
                inference.expression(argument.value, env)
        return facts.type
    for argument, field in zip(node.arguments, fields, strict=False):
        if argument.name is None and field.name.text in facts.by_name:
            hint = f"write `{name}({field.name.text}: ...)`"
            code = catalogue.UNNAMED_ARGUMENT
            inference.report(code.at(argument.span, name=name, hint=hint))
            for one in node.arguments:
                inference.expression(one.value, env)
            return facts.type
    _arguments(inference, node, name, fields, give, env)
    return facts.type


def _arguments(
    inference: Inference,
    node: n.Call,
    name: str,
    parameters: Sequence[n.Parameter],
    give: Callable[[n.Expression, int], None],
    env: Environment,
) -> None:
    """Infers the arguments and reports mismatches with the parameters.

    `give` is called with each argument and the position of its parameter.
    """
    names = [parameter.name.text for parameter in parameters]
    if len(set(names)) < len(names):
        # With duplicate parameter names, which are reported elsewhere, a match would be a guess.
        for argument in node.arguments:
            inference.expression(argument.value, env)
        return
    given: set[str] = set()
    is_complete = True
    for position, argument in enumerate(node.arguments):
        parameter = _parameter_of(inference, node, argument, position, name, names)
        if parameter is None:
            # It may be intended for a parameter that seems to be missing.
            is_complete = False
            inference.expression(argument.value, env)
            continue
        if parameter in given:
            _report_twice(inference, argument, name, parameter)
        given.add(parameter)
        give(argument.value, names.index(parameter))
    for parameter in parameters if is_complete else ():
        if parameter.name.text not in given and parameter.default is None:
            inference.report(_missing(node, name, parameter.name.text, _needed(parameters)))
            return


def _parameter_of(
    inference: Inference,
    node: n.Call,
    argument: n.Argument,
    position: int,
    name: str,
    names: list[str],
) -> str | None:
    """The name of the parameter for an argument, or None after an error.

    An argument for which there is no parameter is reported.
    """
    if argument.name is None:
        if position < len(names):
            return names[position]
        _wrong_count(inference, node, name, len(names))
        return None
    if argument.name.text in names:
        return argument.name.text
    inference.report(
        catalogue.UNKNOWN_ARGUMENT.at(
            argument.name.span,
            name=name,
            argument=argument.name.text,
            hint=ABSENT_ARGUMENTS.get((name, argument.name.text))
            or did_you_mean(argument.name.text, names)
            or listed("it takes", names),
        )
    )
    return None


def _needed(parameters: Sequence[n.Parameter]) -> list[str]:
    """The required arguments, as a call may write them: `name`, or `name: ...`.

    Required parameters after an optional parameter are passed by name.
    """
    first = next((at for at, one in enumerate(parameters) if one.default is not None), None)
    by_name = [one.name.text for one in parameters[first:] if one.default is None]
    return [
        *(one.name.text for one in parameters[:first]),
        *(f"{name}: ..." for name in (by_name if first is not None else ())),
    ]


def _missing(node: n.Call, name: str, parameter: str, needed: list[str]) -> Diagnostic:
    hint = f"write `{name}({', '.join(needed)})`"
    return catalogue.MISSING_ARGUMENT.at(node.span, name=name, argument=parameter, hint=hint)


def _report_twice(inference: Inference, argument: n.Argument, name: str, parameter: str) -> None:
    inference.report(catalogue.REPEATED_ARGUMENT.at(argument.span, name=name, argument=parameter))


def _wrong_count(
    inference: Inference, node: n.Call, name: str, most: int, *, is_named: bool = False
) -> None:
    expected = "no argument" if not most else f"{most} argument{'s' if most > 1 else ''}"
    expected = expected if not is_named else "its arguments by name"
    inference.report(
        catalogue.ARGUMENT_COUNT.at(
            node.span, name=name, expected=expected, given=len(node.arguments)
        )
    )


def _call_builtin(inference: Inference, node: n.Call, builtin: Builtin, env: Environment) -> Type:
    given_types = [inference.expression(argument.value, env) for argument in node.arguments]
    named = list(zip(_argument_names(node), given_types, strict=True))
    way = builtin.select_overload(named)
    passed = arguments_by_position(node, way)
    values = [passed[position] for position in sorted(passed)]
    types = [inference.facts.types[value] for value in values]
    inference.facts.forms.calls[node] = _builtin_form(inference, node, builtin, way, passed, types)
    names = builtin.names
    for position, argument in enumerate(node.arguments):
        is_unknown = argument.name is not None and argument.name.text not in names
        if is_unknown and not builtin.takes_names:
            _parameter_of(inference, node, argument, position, builtin.name, names)
            return ANY
    given: set[str] = set()
    for position, (argument, (_, type_)) in enumerate(zip(node.arguments, named, strict=True)):
        parameter = way.given(position, argument.name.text if argument.name else None)
        if parameter is None and argument.name is not None and builtin.takes_names:
            continue
        if parameter is None:
            most = len(way.parameters)
            _wrong_count(inference, node, builtin.name, most, is_named=way.is_named)
            return way.result(types) if types else ANY
        if argument.name is not None and parameter.name in given:
            _report_twice(inference, argument, builtin.name, parameter.name)
            return ANY
        given.add(parameter.name)
        if takes(parameter, type_) is False:
            inference.report(
                catalogue.TYPE_MISMATCH.at(
                    argument.value.span,
                    expected=_taken_words(parameter, type_, types[0]),
                    found=show(type_),
                    hint=argument_hint(inference.facts, builtin, parameter, argument, type_),
                )
            )
            return way.result(types) if len(types) >= len(given) else ANY
        wrong = wrong_members(parameter, type_)
        if wrong != NEVER:
            problem = f"and `{builtin.name}` needs {taken_words(parameter, type_)}"
            inference.may_fail(argument.value, wrong, problem)
        taken = _taken(inference, argument.value, builtin, parameter)
        types = [taken if one == type_ else one for one in types]
    for parameter in way.parameters:
        if parameter.is_required and parameter.name not in given:
            needed = [one.name for one in way.parameters if one.is_required]
            inference.report(_missing(node, builtin.name, parameter.name, needed))
            return ANY
    _check_values(inference, node, builtin, way, values, types)
    return way.result(types)


def _taken(inference: Inference, node: n.Expression, builtin: Builtin, parameter: Param) -> Type:
    """The type of an argument, without items that the builtin rejects, of which it warns.

    No result has such items, since the call fails.
    """
    type_ = inference.facts.types[node]
    taken, wrong = possible_items(parameter, type_)
    if wrong == NEVER:
        return type_
    words = taken_words(parameter, type_)
    inference.report(
        catalogue.MAY_FAIL.at(
            node.span,
            found=f"a list with {show(wrong)}",
            problem=f"and `{builtin.name}` needs {words}",
            hint="leave it out: `[x for x in xs if x != nil]`" if wrong == NIL else None,
        )
    )
    return ListType(taken)


def _check_values(
    inference: Inference,
    node: n.Call,
    builtin: Builtin,
    way: Overload,
    values: list[n.Expression],
    types: list[Type],
) -> None:
    """Reports invalid values of arguments.

    The invalid values are zero for `div`, an unreadable literal for a date or the like, a key of
    the wrong type for `get`, and, for `min` and `max`, a single value or values that cannot be
    ordered.
    """
    if builtin.name == "div" and is_zero(values[1]):
        inference.report(catalogue.DIVISION_BY_ZERO.at(values[1].span))
    match values:
        case [n.Literal(value=str() as text) as written] if builtin.name in DATES and not is_read(
            DATES[builtin.name], text
        ):
            name = builtin.name
            hint = date_hint(name)
            inference.report(catalogue.UNREADABLE.at(written.span, text=text, name=name, hint=hint))
        case _:
            pass
    if builtin.name == "get" and operate("in", types[1], types[0]).result is None:
        expected = show(key_type(types[0]))
        inference.report(
            catalogue.TYPE_MISMATCH.at(
                values[1].span,
                expected=expected,
                found=show(types[1]),
                hint=conversion_hint(expected, "converts it"),
            )
        )
    if len(values) < way.least:
        inference.report(
            catalogue.TYPE_MISMATCH.at(
                node.arguments[0].value.span,
                expected="a list, or several values",
                found=show(types[0]),
            )
        )
    for one, other in pairwise(types) if way.alike else ():
        if operate("<", one, other).result is None:
            inference.report(
                catalogue.OPERAND.at(
                    node.span, operator=builtin.name, found=f"{show(one)} and {show(other)}"
                )
            )


def _taken_words(parameter: Param, argument: Type, first: Type) -> str:
    """The types that a parameter accepts, in words for a message.

    For a key of an object, this is the type of the object's keys (`first` is the object's type).
    """
    known = show(key_type(first)) if parameter.kinds == KEYED else "any"
    return taken_words(parameter, argument) if known == "any" else known


def _builtin_form(
    inference: Inference,
    node: n.Call,
    builtin: Builtin,
    way: Overload,
    passed: dict[int, n.Expression],
    types: Sequence[Type],
) -> CallForm:
    facts = inference.facts
    if facts.is_imported(node.function):
        return DirectCall(None)
    if not isinstance(node.function, n.Name) or facts.names.of(node.function).kind != "builtin":
        return Form.OPS
    arguments, by = _in_order(passed), _key_function(node, way)
    if way.is_named:
        # Python accepts all of them by name, in any order.
        arguments = tuple(one.value for one in node.arguments)
    is_ordered = by is None or is_proved_key(inference, by, _element(way, types))
    if by is not None and node.arguments[0].value is by and not is_settled(by):
        # Python's function has it after the items, so the order of evaluation would change.
        arguments = None
    if is_ordered and arguments is not None and _is_native(facts, builtin, way, arguments):
        return BuiltinCall(builtin, way, arguments, Form.NATIVE, by)
    # The operation for a dataframe's column accepts no names.
    kept = arguments if way.python.how == "operation" else None
    return BuiltinCall(builtin, way, kept, Form.OPS, by)


def _key_function(node: n.Call, way: Overload) -> n.Expression | None:
    """The argument `by` of a call, or None."""
    if way.by is None:
        return None
    named = (one for one in node.arguments if one.name and one.name.text == way.by.name)
    return next((one.value for one in named), None)


def _element(way: Overload, types: Sequence[Type]) -> Type:
    """The type of the items or arguments that `sorted`, `min` or `max` compares."""
    if way.repeats and len(types) >= way.least:
        return union(types)
    return item_type(types[0]) if types and is_only(types[0], *ITEMS) else ANY


def _is_native(
    facts: Facts, builtin: Builtin, way: Overload, arguments: Sequence[n.Expression]
) -> bool:
    """Whether the types prove that a call is valid, and Python's own form is equivalent to it."""
    types = [facts.types[argument] for argument in arguments]
    if not way.is_proved(types):
        return False
    # Python's form must keep the order of evaluation: it has the item before `in` first, and the
    # separator before `.join`.
    match builtin.name, arguments:
        case "matches", (text, pattern):
            # Python has the pattern first.
            return is_settled(text) or is_settled(pattern)
        case "contains", (container, item):
            keeps_order = is_settled(container) or is_settled(item)
            return keeps_order and facts.contains_as_python(types[1], types[0])
        case "join", (_, separator):
            return is_settled(separator) or not is_only(types[0], *ITEMS)
        case "values" | "items", _:
            # Python's type checkers do not know the types of a TypedDict's values.
            return not any(isinstance(o, ObjectType) and o.is_declared for o in members(types[0]))
        case "get", (_, key, *_):
            # For a TypedDict they know a field only if its name is a literal.
            name = key.value if isinstance(key, n.Literal) else None
            return operate("in", types[1], types[0]).is_proved and all(
                not (isinstance(owner, ObjectType) and owner.is_declared)
                or owner.field(str(name)) is not None
                for owner in members(types[0])
            )
        case _:
            return True


def _in_order(positions: dict[int, n.Expression]) -> tuple[n.Expression, ...] | None:
    """The arguments in the order of the parameters.

    None if an argument is missing, or if the new order would reorder effects.
    """
    ordered = sorted(positions)
    if list(positions) != ordered and not all(map(is_settled, positions.values())):
        return None
    is_complete = ordered == list(range(len(ordered)))
    return tuple(positions[position] for position in ordered) if is_complete else None


def _argument_names(node: n.Call) -> list[str | None]:
    """The name of each argument, or None for a positional argument."""
    return [None if argument.name is None else argument.name.text for argument in node.arguments]
