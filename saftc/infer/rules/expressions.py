"""Expressions: their types, and the conversions that their contexts need.

The type that the context expects is passed down to the items of a list literal, the branches of a
conditional, and prompts. So `prices: [float] = [1, 2.5]` converts the first item to a float, and a
prompt gets its contract from the annotation.
"""

from collections.abc import Callable
from typing import Any

from saftc.check.forms import (
    IsTest,
    KindTest,
    OperatorForm,
    is_singleton,
    is_written_out,
    native_if,
    takes_format,
)
from saftc.check.names import Symbol
from saftc.diagnostics import catalogue
from saftc.infer.rules.calls import call
from saftc.infer.rules.conditions import (
    condition,
    forget_changed,
    forget_changed_inside,
    logical_value,
    narrow,
)
from saftc.infer.rules.context import Inference
from saftc.infer.rules.environment import Environment
from saftc.infer.rules.expected import fit_into, is_zero
from saftc.infer.rules.hints import format_hint, kind_hint, operand_hint, prompt_hint
from saftc.infer.rules.literals import (
    list_literal,
    member_of_kind,
    object_literal,
    object_of_entry,
    tuple_literal,
)
from saftc.infer.rules.loops import bind, iterated
from saftc.infer.rules.members import index, member, slice_, tuple_member
from saftc.infer.rules.prompts import prompt
from saftc.syntax import nodes as n
from saftc.types.operators import is_constant, negate, operate, wrong_members
from saftc.types.relations import Assignability, fit
from saftc.types.results import FAILURE_KIND, FAILURE_KINDS
from saftc.types.types import (
    ANY,
    BOOL,
    DATES,
    INT,
    NEVER,
    STRING,
    BuiltinType,
    FunctionType,
    ListType,
    RecordType,
    Type,
    base_of_value,
    is_only,
    may_be,
    members,
    show,
    union,
    widened,
)

# The kinds with a Python class to test for, even if the type of the value is unknown.
_KINDS_WITH_CLASS = {"int", "string", "float", "bool", "list", "tuple", "object"}


def type_of(
    inference: Inference, node: n.Expression, env: Environment, wanted: Type | None
) -> Type:
    """The type of an expression before any conversion.

    `wanted` is the type that the context expects, if any.
    """
    rule = _RULES.get(type(node))
    if rule is None:
        type_ = _EXPECTING[type(node)](inference, node, env, wanted)
    else:
        type_ = rule(inference, node, env)
    if inference.uses_python:
        forget_changed(inference, node, env)
    return type_


def _literal(inference: Inference, node: n.Literal, env: Environment) -> Type:
    del inference, env
    return base_of_value(node.value)


def _logical(inference: Inference, node: n.Logical, env: Environment) -> Type:
    logical_value(inference, node, env)
    return BOOL


def _server_call(
    inference: Inference, node: n.ServerCall, env: Environment, wanted: Type | None
) -> Type:
    for argument in node.arguments:
        inference.expression(argument.value, env)
    return ANY if wanted is None else wanted  # checked when the reply arrives


def _name(inference: Inference, node: n.Name, env: Environment) -> Type:
    symbol = inference.facts.names.of(node)
    target = inference.facts.meaning_of(symbol)
    if target is not symbol:
        return inference.facts.foreign_type(target)
    if symbol.kind == "import":
        return inference.facts.type_in_python(node)
    return _meaning(inference, symbol, env)


def _meaning(inference: Inference, symbol: Symbol, env: Environment) -> Type:
    match symbol.kind:
        case "function":
            assert isinstance(symbol.node, n.FunctionDef)
            return FunctionType(symbol.name, symbol.node, False)
        case "builtin":
            return BuiltinType(symbol.name, False)
        case "variable" | "parameter" | "field":
            return inference.read(symbol, env)
        case "record" | "type" | "import" | "guessed":
            return ANY


def _unary(inference: Inference, node: n.Unary, env: Environment) -> Type:
    if node.operator == "not":
        condition(inference, node, env)
        return BOOL
    operand = inference.expression(node.operand, env)
    operation = negate(operand)
    if operation.result is None:
        inference.report(catalogue.OPERAND.at(node.span, operator="-", found=show(operand)))
        return ANY
    inference.facts.forms.operators[node] = native_if(operation.is_proved)
    _warn_of_operands(inference, "-", (None, INT), (node.operand, operand))
    return operation.result


def _binary(inference: Inference, node: n.Binary, env: Environment, wanted: Type | None) -> Type:
    left = inference.expression(node.left, env)
    asked = member_of_kind(wanted, ListType)
    if node.operator == "+" and asked is not None and fit(left, asked) == Assignability.EXACT:
        # If the place expects a list type, both operands of `+` are expected to have it.
        right = inference.expression(node.right, env, asked)
        if is_only(right, "list"):
            right = fit_into(inference, node.right, asked, env)
    else:
        right = inference.expression(node.right, env)
    if node.operator in ("/", "%") and is_zero(node.right):
        inference.report(catalogue.DIVISION_BY_ZERO.at(node.right.span))
    operation = operate(node.operator, left, right)
    if operation.result is None:
        _wrong_operands(inference, node, node.operator, left, right)
        return ANY
    inference.facts.forms.operators[node] = native_if(operation.is_proved)
    _warn_of_operands(inference, node.operator, (node.left, left), (node.right, right))
    return operation.result


def _warn_of_operands(
    inference: Inference,
    operator: str,
    left: tuple[n.Expression | None, Type],
    right: tuple[n.Expression | None, Type],
) -> None:
    """Warns about operands that may be of a type that the operator rejects."""
    wrong = wrong_members(operator, left[1], right[1])
    for (operand, _), found in zip((left, right), wrong, strict=True):
        if operand is not None and found != NEVER:
            inference.may_fail(operand, found, f"which `{operator}` does not take")


def _comparison(inference: Inference, node: n.Comparison, env: Environment) -> Type:
    left = inference.expression(node.left, env)
    right = inference.expression(node.right, env)
    operation = operate(node.operator, left, right)
    _check_kinds(inference, node, left, right)
    match node.operator:
        case "==" | "!=":
            form = _equality(inference, node, left, right)
        case "in" | "not in":
            form = native_if(inference.facts.contains_as_python(left, right))
        case _:
            form = native_if(operation.is_proved)
    inference.facts.forms.operators[node] = form
    if operation.result is None:
        _wrong_operands(inference, node, node.operator, left, right)
    elif node.operator not in ("==", "!="):
        _warn_of_operands(inference, node.operator, (node.left, left), (node.right, right))
    elif is_constant(node.operator, left, right):
        code = catalogue.ALWAYS_FALSE if node.operator == "==" else catalogue.ALWAYS_TRUE
        hint = f"{show(left)} is never equal to {show(right)}"
        if left == STRING and isinstance(right, BuiltinType):  # as in `type(x) == int`
            hint = f'{hint}; `type(x) == "{right.name}"` tests the type of a value'
        hint = prompt_hint(inference.facts, node, left, right) or hint
        inference.report(code.at(node.span, hint=hint))
    return BOOL


def _check_kinds(inference: Inference, node: n.Comparison, left: Type, right: Type) -> None:
    """Reports a comparison of a failure's kind with a string that is not a kind of failure."""
    is_equality = node.operator in ("==", "!=") and FAILURE_KIND in (left, right)
    if not is_equality and (left != FAILURE_KIND or node.operator not in ("in", "not in")):
        return
    items = node.right.items if isinstance(node.right, n.ListLiteral | n.TupleLiteral) else ()
    for other in (node.left, node.right, *items):
        kind = other.value if isinstance(other, n.Literal) else None
        if isinstance(kind, str) and kind not in FAILURE_KINDS:
            code = catalogue.FAILURE_KIND
            inference.report(code.at(other.span, kind=f'"{kind}"', hint=kind_hint(kind)))


def _equality(inference: Inference, node: n.Comparison, left: Type, right: Type) -> OperatorForm:
    for one, other in ((node.left, node.right), (node.right, node.left)):
        kind_test = _kind_test(inference, one, other)
        if kind_test is not None:
            return kind_test
        # Python warns about `is` with a constant other than None, True and False.
        if is_singleton(other) and not is_written_out(one):
            return IsTest(one, other)
    is_singular = is_singleton(node.left) or is_singleton(node.right)
    return native_if(not is_singular and inference.facts.equals_as_python(left, right))


def _kind_test(inference: Inference, one: n.Expression, other: n.Expression) -> KindTest | None:
    """The form of a test `type(x) == "word"`, or None for other comparisons.

    `one` is the operand `type(x)`, and `other` is the string.
    """
    match one, other:
        case (
            n.Call(
                function=n.Name(text="type") as function,
                arguments=(n.Argument(name=None, value=tested),),
            ),
            n.Literal(value=str() as word),
        ) if inference.facts.names.of(function).kind == "builtin" and not is_written_out(tested):
            type_ = inference.facts.types[tested]
        case _:
            return None
    if word == "nil":
        return KindTest(tested, word, "none")
    if word == "int" and may_be(type_, BOOL):
        return KindTest(tested, word, "exact")
    record = inference.facts.record_of_kind(word)
    if record is not None and _is_named(inference, record):
        # A Python class may have subclasses, whose values are of another kind.
        is_own = inference.facts.records[record].module is None
        return KindTest(tested, word, "instance" if is_own else "exact")
    if word in _KINDS_WITH_CLASS and not _may_be_of_python(inference, type_):
        return KindTest(tested, word, "instance")
    if word in DATES and type_ != ANY:
        # A datetime is an instance of Python's date as well.
        return KindTest(tested, word, "exact" if word == "date" else "instance")
    if word == "dataframe" and type_ != ANY:
        return KindTest(tested, word, "instance")
    return KindTest(tested, word, "text")


def _is_named(inference: Inference, record: str) -> bool:
    """Whether the output certainly has the name of a record.

    A name that the script imports but does not use elsewhere may be missing, because the import may
    be removed.
    """
    symbol = inference.facts.own_names.get(record.split(".")[0])
    return symbol is None or symbol.kind != "import" or symbol.is_read


def _may_be_of_python(inference: Inference, type_: Type) -> bool:
    """Whether a value may be of a Python class. Such a class can be a subclass of str or tuple."""
    if type_ == ANY:
        return bool(inference.facts.python)
    records = (member for member in members(type_) if isinstance(member, RecordType))
    return any(inference.facts.is_of_python(record) for record in records)


def _wrong_operands(
    inference: Inference, node: n.Binary | n.Comparison, operator: str, left: Type, right: Type
) -> None:
    inference.report(
        catalogue.OPERAND.at(
            node.span,
            operator=operator,
            found=f"{show(left)} and {show(right)}",
            hint=prompt_hint(inference.facts, node, left, right)
            or operand_hint(operator, left, right),
        )
    )


def _conditional(
    inference: Inference, node: n.Conditional, env: Environment, wanted: Type | None
) -> Type:
    condition(inference, node.condition, env)
    then, other = env.copy(), env.copy()
    narrow(inference, node.condition, then, truth=True)
    narrow(inference, node.condition, other, truth=False)
    if wanted is not None and wanted != ANY:
        first = fit_into(inference, node.then, wanted, then)
        second = fit_into(inference, node.other, wanted, other)
    else:
        first = inference.expression(node.then, then, wanted)
        second = inference.expression(node.other, other, wanted)
    forget_changed_inside(inference, node, env)
    return union((first, second))


def _comprehension(
    inference: Inference, node: n.Comprehension, env: Environment, wanted: Type | None
) -> Type:
    forget_changed_inside(inference, node, env)
    inner = env.copy()
    for clause in node.clauses:
        iterable = inference.expression(clause.iterable, inner)
        bind(inference, clause.pattern, iterated(inference, clause, iterable), inner)
        for test in clause.conditions:
            condition(inference, test, inner)
            narrow(inference, test, inner, truth=True)
    if isinstance(node.item, n.ComputedField):
        return object_of_entry(inference, node.item, inner, wanted)
    asked = member_of_kind(wanted, ListType)
    if isinstance(asked, ListType) and asked.item != ANY:
        fit_into(inference, node.item, asked.item, inner)
        return asked
    return ListType(widened(inference.expression(node.item, inner)))


def _formatted_string(inference: Inference, node: n.FormattedString, env: Environment) -> Type:
    for hole in node.parts:
        if not isinstance(hole, n.FormatHole):
            continue
        type_ = inference.expression(hole.value, env)
        if hole.spec is None:
            continue
        wrong = union(one for one in members(type_) if takes_format(one, hole.spec) is False)
        if wrong == type_ != NEVER:
            found, hint = show(type_), format_hint(type_, hole.spec)
            inference.report(
                catalogue.BAD_FORMAT.at(hole.span, format=hole.spec, found=found, hint=hint)
            )
        elif wrong != NEVER:
            inference.may_fail(hole.value, wrong, f"which `{hole.spec}` cannot format")
        is_proved = all(takes_format(one, hole.spec) for one in members(type_))
        inference.facts.forms.holes[hole] = native_if(is_proved)
    return STRING


# The rules for the kinds of expressions, and those that ask for the type that the context expects.
_RULES: dict[type[n.Expression], Callable[[Inference, Any, Environment], Type]] = {
    n.Literal: _literal,
    n.Name: _name,
    n.Call: call,
    n.Index: index,
    n.Slice: slice_,
    n.Member: member,
    n.TupleMember: tuple_member,
    n.Unary: _unary,
    n.Comparison: _comparison,
    n.Logical: _logical,
    n.FormattedString: _formatted_string,
}
_EXPECTING: dict[type[n.Expression], Callable[[Inference, Any, Environment, Type | None], Type]] = {
    n.ListLiteral: list_literal,
    n.TupleLiteral: tuple_literal,
    n.ObjectLiteral: object_literal,
    n.Binary: _binary,
    n.Conditional: _conditional,
    n.Comprehension: _comprehension,
    n.Prompt: prompt,
    n.ServerCall: _server_call,
}
