"""Places: an expression is where some type is asked for, and what has to be done about it."""

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Advice, Related
from saftc.diagnostics.near import is_slip, near
from saftc.semantics.builtins import BUILTINS, Builtin, takes
from saftc.semantics.foreign import Function
from saftc.semantics.forms import written_value
from saftc.semantics.inference.context import Inference
from saftc.semantics.inference.environment import Environment
from saftc.semantics.relations import Fit, fit, fit_call
from saftc.semantics.types import (
    ANY,
    BOOL,
    DATES,
    DECIMAL,
    FLOAT,
    INT,
    NEVER,
    NIL,
    RESULT,
    STRING,
    BuiltinType,
    CallableType,
    FunctionType,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    RecordType,
    Type,
    UnionType,
    item_type,
    literal_type,
    members,
    opened,
    show,
    union,
)
from saftc.syntax import nodes as n


def fit_into(
    inference: Inference,
    node: n.Expression,
    wanted: Type,
    env: Environment,
    related: tuple[Related, ...] = (),
) -> Type:
    """The type of an expression in a place that asks for `wanted`; notes what the place does.

    `related` are the places that a mistake tells of besides.
    """
    wanted = opened(wanted)
    if RESULT in members(wanted) and (keeper := inference.facts.result_of(node)) is not None:
        inference.expression(node, env)
        inference.facts.whole_results.add(node)
        if not isinstance(keeper, n.Prompt):
            inference.facts.history.keep(keeper)
        return RESULT
    return settle(inference, node, inference.expression(node, env, wanted), wanted, related)


_ANOTHER_NAME = "a value of another type needs another name"


def held(inference: Inference, name: n.Identifier) -> tuple[Type, tuple[Related, ...]] | None:
    """The type that an annotation above asks for where a name is assigned, and where it stands."""
    schema = inference.facts.held.get(name)
    if schema is None:
        return None
    related = Related(schema.span, f"`{name.text}` is annotated here")
    return inference.facts.schemas[schema], (related,)


def hold(inference: Inference, name: n.Identifier, given: Type) -> None:
    """Reports a value that a name gets and that its annotation above cannot have."""
    found = held(inference, name)
    if found is not None and given != NEVER and fit(given, found[0]) == Fit.NEVER:
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


def settle(
    inference: Inference,
    node: n.Expression,
    given: Type,
    wanted: Type,
    related: tuple[Related, ...] = (),
) -> Type:
    """Holds the value of an expression, of type `given`, against what its place asks for."""
    given = as_written(node, given, wanted)
    how = _fit_function(inference, node, given, wanted)
    how = fit(given, wanted) if how is None else how
    if how == Fit.NEVER:
        hint = mismatch_hint(inference, given, wanted)
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
    asked = wanted
    if how == Fit.CHECK and given != ANY:
        # What the value certainly is not need not be asked for.
        asked = union(
            possible
            for possible in members(wanted)
            if any(fit(member, possible) != Fit.NEVER for member in members(given))
        )
    inference.coerce(node, how, asked)
    others = [one for one in members(given) if not isinstance(one, FunctionType | BuiltinType)]
    if how == Fit.EXACT and wanted != ANY and len(others) < len(members(given)):
        # As a function of that type it keeps no history, and is one of many.
        inference.facts.given_functions[node] = wanted
        return union([*others, *(one for one in members(wanted) if isinstance(one, CallableType))])
    return given if how == Fit.EXACT and ANY not in (given, wanted) else asked


def _fit_function(
    inference: Inference, node: n.Expression, given: Type, wanted: Type
) -> Fit | None:
    """How a certain function fits a place for functions; None where it is not that."""
    asked = [one for one in members(wanted) if isinstance(one, CallableType)]
    if not asked:
        return None
    if given == ANY:
        declared = inference.facts.declared_by_python(node)
        is_proved = isinstance(declared, Function) and any(
            declared.waits == "no" and fit(_given(declared, one), one.result) == Fit.EXACT
            for one in asked
        )
        return Fit.EXACT if is_proved else None
    if not any(isinstance(one, FunctionType | BuiltinType) for one in members(given)):
        return None
    fits: set[Fit] = set()
    for member in members(given):
        match member:
            case FunctionType():
                inference.reach(member.definition)
                fits.add(min(_fit_definition(inference, member, one) for one in asked))
            case BuiltinType():
                fits.add(min(_fit_builtin(BUILTINS[member.name], one) for one in asked))
            case _:
                fits.add(fit(member, wanted))
    return fits.pop() if len(fits) == 1 else Fit.CHECK


def _given(function: Function, wanted: CallableType) -> Type:
    """What Python declares that a call gives of what the type says, which is believed."""
    return function.given(wanted.parameters, {}).type


def _fit_definition(inference: Inference, given: FunctionType, wanted: CallableType) -> Fit:
    """Whether a function of the script can be called as the type says, and gives what it says."""
    parameters = given.definition.parameters
    needed = sum(one.default is None for one in parameters)
    if not needed <= len(wanted.parameters) <= len(parameters):
        return Fit.NEVER
    known = inference.facts.functions[given.definition].parameters
    return fit_call(known, inference.result_of(given.definition), wanted)


def _fit_builtin(builtin: Builtin, wanted: CallableType) -> Fit:
    """The same of a builtin, which looks itself at what it is given."""
    types = wanted.parameters
    way = builtin.meant([(None, one) for one in types])
    taken = [way.parameter(position) for position in range(len(types))]
    needed = sum(one.is_required for one in way.parameters)
    if way.by is not None or len(types) < max(needed, way.least):
        return Fit.NEVER
    pairs = zip(taken, types, strict=True)
    if any(one is None or takes(one, type_) is False for one, type_ in pairs):
        return Fit.NEVER
    result = way.result(types)
    how = fit_call(types, result, wanted)
    # What Python's function gives for certain arguments, its own annotation does not say.
    is_said = not callable(way.gives) and len(builtin.ways) == 1
    return how if is_said else max(how, Fit.CHECK)


def _shown(inference: Inference, given: Type) -> str:
    """The type as a message names it; of a certain function, with what it takes and gives."""
    if not isinstance(given, FunctionType):
        return show(given)
    facts = inference.facts.functions[given.definition]
    takes = ", ".join(map(show, facts.parameters))
    return f"`{given.name}`: ({takes}) -> {show(inference.result_of(given.definition))}"


def _called_with(inference: Inference, given: ObjectType, records: list[RecordType]) -> str | None:
    """The script's name of the record that an object was meant for: the one with its fields."""
    names = {field.name for field in given.fields}
    closest = min(records, key=lambda one: len(names ^ set(inference.facts.fields_of(one))))
    definition = closest.definition
    return None if definition is None else inference.facts.name_of_record(definition)


def is_zero(node: n.Expression) -> bool:
    """Whether it is written as zero."""
    return isinstance(node, n.Literal) and type(node.value) in (int, float) and node.value == 0


def as_written(node: n.Expression, given: Type, wanted: Type) -> Type:
    """The type of an expression; of one that is written out, where literals are wanted, its own."""
    value = written_value(node)
    has_literals = any(isinstance(member, LiteralType) for member in members(wanted))
    return literal_type(value) if value is not None and has_literals else given


_DRAFT = "a draft may lack fields: keep the stream, `whole: T = stream $ ... $`, and use `whole`"


def mismatch_hint(inference: Inference, given: Type, wanted: Type) -> str | Advice | None:
    records = [member for member in members(wanted) if isinstance(member, RecordType)]
    if isinstance(given, ObjectType) and records:
        if any(inference.facts.draft_of(one) == given for one in records):
            return _DRAFT
        name = _called_with(inference, given, records)
        return None if name is None else f"call the record: `{name}(...)`"
    inner = item_type(given) if isinstance(given, ListType) else given
    asked = item_type(wanted) if isinstance(wanted, ListType) else wanted
    if isinstance(inner, RecordType) and isinstance(asked, ObjectType | MapType):
        return f"a record is not an object; its type is `{show(given)}`"
    if given == STRING and wanted in DATES.values():
        return f"`{show(wanted)}(x)` reads a text"
    if given == FLOAT and wanted == DECIMAL:
        return 'a float is not exact: write `decimal("1.50")`'
    if given == STRING and wanted in (INT, FLOAT):
        return f"`{show(wanted)}(x)` reads a number from a text"
    if given == FLOAT and wanted == INT:
        return "`round(x)` or `int(x)` makes an int of it"
    if wanted == STRING and given in (INT, FLOAT, BOOL):
        return "`str(x)` makes a text of any value"
    if isinstance(given, LiteralType) and isinstance(wanted, UnionType):
        values = [m.value for m in wanted.members if isinstance(m, LiteralType)]
        written, known = str(given.value), [str(value) for value in values]
        meant = near(written, known)
        if meant and isinstance(given.value, str):
            is_guess = not is_slip(written, meant, known)
            text = show(literal_type(meant))
            return Advice(f'did you mean "{meant}"?', instead=text, is_guess=is_guess)
    return None
