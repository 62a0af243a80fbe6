"""Expected types: fits an expression to the type of its assignment, argument or annotation."""

from saftc.check.facts import FunctionFacts
from saftc.check.forms import written_value
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Related
from saftc.infer.parameters import passed
from saftc.infer.rules.context import Inference
from saftc.infer.rules.environment import Environment
from saftc.infer.rules.hints import mismatch_hint
from saftc.syntax import nodes as n
from saftc.types.foreign import Function
from saftc.types.relations import Assignability, fit, fit_call
from saftc.types.types import (
    ANY,
    NEVER,
    NIL,
    RESULT,
    STRING,
    BuiltinType,
    CallableType,
    FunctionType,
    LiteralType,
    Type,
    literal_type,
    members,
    show,
    union,
    unrolled,
)


def fit_into(
    inference: Inference,
    node: n.Expression,
    wanted: Type,
    env: Environment,
    related: tuple[Related, ...] = (),
) -> Type:
    """The type of an expression where a value of type `wanted` is expected.

    Records the conversion that the value needs, and reports a value that does not fit. `related`:
    other places in the script to show with an error.
    """
    wanted = unrolled(wanted)
    if RESULT in members(wanted) and (keeper := inference.facts.result_of(node)) is not None:
        inference.expression(node, env)
        inference.facts.whole_results.add(node)
        if not isinstance(keeper, n.Prompt):
            inference.facts.history.keep(keeper)
        return RESULT
    return check_assignable(
        inference, node, inference.expression(node, env, wanted), wanted, related
    )


_ANOTHER_NAME = "a value of another type needs another name"


def inherited_annotation(
    inference: Inference, name: n.Identifier
) -> tuple[Type, tuple[Related, ...]] | None:
    """The annotation that an assignment inherits, or None.

    The annotation is a type and the place in the script to show with errors.
    """
    schema = inference.facts.held.get(name)
    if schema is None:
        return None
    related = Related(schema.span, f"`{name.text}` is annotated here")
    return inference.facts.schemas[schema], (related,)


def check_annotation(inference: Inference, name: n.Identifier, given: Type) -> None:
    """Reports a value of type `given` that does not fit the annotation inherited by `name`."""
    found = inherited_annotation(inference, name)
    if found is not None and given != NEVER and fit(given, found[0]) == Assignability.NEVER:
        wanted, related = found
        code = catalogue.TYPE_MISMATCH
        inference.report(
            code.at(
                name.span,
                expected=show(wanted),
                found=show(given),
                hint=_ANOTHER_NAME,
                related=related,
            )
        )


def check_assignable(
    inference: Inference,
    node: n.Expression,
    given: Type,
    wanted: Type,
    related: tuple[Related, ...] = (),
) -> Type:
    """Checks an expression of type `given` where a value of type `wanted` is expected.

    Records the conversion that the value needs, and reports a value that does not fit. Returns the
    type of the converted value.
    """
    given = as_written(node, given, wanted)
    how = _fit_function(inference, node, given, wanted)
    how = fit(given, wanted) if how is None else how
    if how == Assignability.NEVER:
        hint = mismatch_hint(inference.facts, given, wanted)
        if related and given != NIL and (hint is None or wanted == STRING):
            hint = _ANOTHER_NAME
        inference.report(
            catalogue.TYPE_MISMATCH.at(
                node.span,
                expected=show(wanted),
                found=_shown(inference, given),
                hint=hint,
                related=related,
            )
        )
        return wanted
    inference.coerce(node, how, wanted)
    others = [one for one in members(given) if not isinstance(one, FunctionType | BuiltinType)]
    if how == Assignability.EXACT and wanted != ANY and len(others) < len(members(given)):
        # At the place it is any function of that type, which returns plain values.
        inference.facts.given_functions[node] = wanted
        return union([*others, *(one for one in members(wanted) if isinstance(one, CallableType))])
    return given if how == Assignability.EXACT and ANY not in (given, wanted) else wanted


def _fit_function(
    inference: Inference, node: n.Expression, given: Type, wanted: Type
) -> Assignability | None:
    """How a known function fits `wanted`, if `wanted` contains a function type.

    None if `node` is not a known function, or if `wanted` contains no function type.
    """
    asked = [one for one in members(wanted) if isinstance(one, CallableType)]
    if not asked:
        return None
    if given == ANY:
        declared = inference.facts.declared_by_python(node)
        is_proved = isinstance(declared, Function) and any(
            declared.waits == "no" and fit(_given(declared, one), one.result) == Assignability.EXACT
            for one in asked
        )
        return Assignability.EXACT if is_proved else None
    if not any(isinstance(one, FunctionType | BuiltinType) for one in members(given)):
        return None
    fits: set[Assignability] = set()
    for member in members(given):
        match member:
            case FunctionType():
                inference.reach(member.definition)
                fits.add(min(_fit_definition(inference, member, one) for one in asked))
            case BuiltinType():
                fits.add(Assignability.CHECK)
            case _:
                fits.add(fit(member, wanted))
    return fits.pop() if len(fits) == 1 else Assignability.CHECK


def _given(function: Function, wanted: CallableType) -> Type:
    """The result type that a Python function declares for arguments of the types in `wanted`.

    The declaration is trusted.
    """
    return function.given(wanted.parameters, {}).type


def _fit_definition(
    inference: Inference, given: FunctionType, wanted: CallableType
) -> Assignability:
    """How a function of a script fits a function type."""
    parameters = given.definition.parameters
    needed = sum(one.default is None for one in parameters)
    if not needed <= len(wanted.parameters) <= len(parameters):
        return Assignability.NEVER
    known = inference.facts.functions[given.definition].parameters
    return fit_call(known, inference.result_of(given.definition), wanted)


def _shown(inference: Inference, given: Type) -> str:
    """A type as messages show it. A known function is shown with its signature."""
    if not isinstance(given, FunctionType):
        return show(given)
    facts = inference.facts.functions[given.definition]
    takes = ", ".join(map(show, facts.parameters))
    return f"`{given.name}`: ({takes}) -> {show(inference.result_of(given.definition))}"


def is_zero(node: n.Expression) -> bool:
    """Whether the expression is a literal zero."""
    return isinstance(node, n.Literal) and type(node.value) in (int, float) and node.value == 0


def as_written(node: n.Expression, given: Type, wanted: Type) -> Type:
    """The literal type of a literal `node` if `wanted` has literal types, or else `given`."""
    value = written_value(node)
    has_literals = any(isinstance(member, LiteralType) for member in members(wanted))
    return literal_type(value) if value is not None and has_literals else given


# Arguments for bare parameters. If calls determine the type of a parameter, only the calls in the
# script that defines the function count. Calls in importing scripts are checked against that type:
# otherwise the result would depend on which other scripts are compiled with it.


def pass_argument(
    inference: Inference,
    node: n.Expression,
    function: FunctionFacts,
    position: int,
    env: Environment,
) -> None:
    """Infers an argument for a bare parameter (without an annotation).

    If calls in this script determine the parameter's type, the argument's type is added to it.
    Otherwise the argument is checked against the parameter's type.
    """
    wanted = function.parameters[position]
    if wanted == RESULT and position not in function.from_calls:
        fit_into(inference, node, wanted, env)
        return
    # A type from the uses of a bare parameter is not an annotation: a prompt stays a string.
    type_ = inference.expression(node, env)
    if position not in function.from_calls:
        check_assignable(inference, node, type_, wanted)
    elif inference.facts.is_own(function.node):
        inference.take(function.node, position, passed(type_), node)
    elif fit(type_, wanted) in (Assignability.CONVERT, Assignability.NEVER):
        _report(inference, node, type_, function, position)
    elif isinstance(node, n.ListLiteral | n.ObjectLiteral | n.TupleLiteral | n.Conditional):
        # A literal gets the expected class.
        fit_into(inference, node, wanted, env)
    else:
        check_assignable(inference, node, type_, wanted)


def _report(
    inference: Inference,
    node: n.Expression,
    given: Type,
    function: FunctionFacts,
    position: int,
) -> None:
    definition = function.node
    parameter = definition.parameters[position].name.text
    source = inference.facts.sources[definition]
    inference.report(
        catalogue.OTHER_ARGUMENT.at(
            node.span,
            name=definition.name.text,
            parameter=parameter,
            expected=show(function.parameters[position]),
            found=show(given),
            hint=f"annotate `{parameter}` where `{definition.name.text}` is defined; "
            f"`{parameter}: any` takes every value",
            related=tuple(
                Related(argument.span, "the script that defines it passes this", source)
                for argument in function.from_calls[position][:3]
            ),
        )
    )
