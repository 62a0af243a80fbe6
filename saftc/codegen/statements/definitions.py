"""Emits definitions: type aliases, records and functions.

    f area(radius: float, unit = "m") -> string:

becomes `def area(radius: float, unit: str = "m") -> str:`. The body of the `def` begins with the
docstring and with copies of outer variables. It ends with a check of the result if one is needed.
"""

import libcst as cst

from saftc.check.facts import FunctionFacts
from saftc.check.history import is_stream
from saftc.codegen import python as py
from saftc.codegen.annotations import (
    annotation,
    checked,
    field_annotation,
    names_unwritten,
    object_class,
    result_class,
)
from saftc.codegen.comments import with_beside, with_comments
from saftc.codegen.context import Context
from saftc.codegen.layout import code_of
from saftc.codegen.python import Expression, Statement
from saftc.codegen.statements.blocks import above, emit_body
from saftc.codegen.statements.classes import class_def, docstring, has_alias_form
from saftc.codegen.statements.servers import name_titles
from saftc.lower.values import Default, declared_object, emptied
from saftc.syntax import nodes as n
from saftc.syntax.comments import take
from saftc.syntax.walk import walk
from saftc.types.types import (
    ANY,
    NEVER,
    NIL,
    ListType,
    MapType,
    ObjectType,
    Type,
    union,
)

# The note in the docstring of an `async` function that returns a stream.
_AWAITED = "Await the call, then loop over the `pieces()` of what it gives, or await that, too."

# Types


def emit_type_alias(context: Context, statement: n.TypeAlias) -> Statement:
    """Emits `type name = schema` as a class, or as the assignment of an annotation."""
    classes = context.output.classes
    name, doc = statement.name.text, context.module.docs.get(statement)
    type_ = context.facts.aliases[name]
    if isinstance(statement.schema, n.ObjectSchema) and isinstance(type_, ObjectType):
        for field in statement.schema.fields:
            classes.name_schema(field.schema, field.name.text)
        made = object_class(context, type_, name, doc or "")
        if doc and not isinstance(made, cst.ClassDef):
            # An assignment has no docstring.
            lines = [py.comment(line.rstrip()) for line in doc.split("\n")]
            made = above(made, [cst.EmptyLine(comment=line) for line in lines])
    else:
        classes.name_schema(statement.schema, name + "_part")
        target = py.name(context.name_of(statement.name))
        classes.aliases.pop(type_, None)
        made = py.line(py.assignment(target, field_annotation(context, type_, doc)))
        if has_alias_form(type_):
            classes.aliases[type_] = name
    classes.written.add(name)
    return made


def emit_record_def(context: Context, statement: n.RecordDef) -> Statement:
    """Emits `type name(fields)` as a dataclass."""
    name, docs = statement.name.text, context.module.docs
    for field in statement.fields:
        context.output.classes.name_schema(field.schema, field.name.text)
    types = context.facts.records[name].fields.values()
    inside = context.in_class()
    defaults = _record_defaults(inside, statement)
    entries: list[tuple[str, Expression]] = []
    for field, type_ in zip(statement.fields, types, strict=True):
        field_name = py.field_name(field.name.text)
        # Python assigns the default first, and then evaluates the annotation.
        above = [*dict(entries), *({field_name} & defaults.keys())]
        made = field_annotation(inside.below(above), type_, docs.get(field))
        entries.append((field_name, made))
    frozen = py.call(context.global_("dataclass"), named=[("frozen", py.constant(True))])
    python_name = context.name_of(statement.name)
    doc = docs.get(statement, "")
    # The rules may contain names of types above, and of the record itself.
    context.output.classes.written.add(name)
    rules = [_rules(context, statement)] if statement.rules else []
    kind = name if python_name != name else ""
    made = class_def(python_name, [], entries, doc, kind, [frozen], defaults, rules)
    return with_beside(made, context.comments.of(statement).head)


def _rules(context: Context, statement: n.RecordDef) -> cst.FunctionDef:
    """Emits the rules of a record as the method that a dataclass calls for each new instance."""
    inside = context.deeper().within(context.facts.names.scopes[statement])
    body = emit_body(inside, statement.rules, None)
    parameters = py.parameters([("self", None, None)])
    return context.note(
        py.function("__post_init__", parameters, py.constant(None), body), statement.rules[0].span
    )


def _record_defaults(context: Context, statement: n.RecordDef) -> dict[str, Expression]:
    """Maps the fields of a record to their defaults.

    Fields in `nil_by_default` have the default nil.
    """
    defaults = {
        py.field_name(field.name.text): py.constant(None) for field in statement.nil_by_default
    }
    for position, field in enumerate(statement.fields):
        if field.default is not None:
            type_ = context.facts.records[statement.name.text].fields[field.name.text]
            above = (py.field_name(one.name.text) for one in statement.fields[: position + 1])
            default = _field_default(context.below(above), field.default, type_)
            defaults[py.field_name(field.name.text)] = default
    return defaults


def _field_default(context: Context, node: n.Expression, type_: Type) -> Expression:
    value = context.emit(node)
    match context.choices.values.default(node):
        case Default.SHARED:
            return value
        case Default.MADE:
            if isinstance(value, cst.Dict | cst.List) and not value.elements:
                factory = _empty(context, value, type_)
            else:
                factory = py.lambda_(_of_class(context, value, type_))
        case Default.COPIED:
            factory = py.attribute(value, "copy")
        case Default.HELD:
            factory = py.lambda_(py.name("value"), [("value", None, value)])
    return py.call(context.global_("field"), named=[("default_factory", factory)])


def _of_class(context: Context, value: Expression, type_: Type) -> Expression:
    """Changes a dict to a call of its TypedDict, if there is one. Other values are left unchanged.

    The call is needed because mypy does not infer the class from the annotation.
    """
    declared = declared_object(type_)
    if declared is None or not isinstance(value, cst.Dict):
        return value
    named: list[tuple[str, Expression]] = []
    for entry in value.elements:
        if not isinstance(entry, cst.DictElement) or not isinstance(entry.key, cst.SimpleString):
            return value
        key = str(entry.key.evaluated_value)
        if not py.is_identifier(key):
            return value
        named.append((key, entry.value))
    return py.call(annotation(context, declared), named=named)


def _empty(context: Context, value: cst.Dict | cst.List, type_: Type) -> Expression:
    """The `default_factory` for an empty list or dict, such as `list[str]`.

    The factory includes the type of the items, since strict checkers do not infer this type from
    the annotation. The name of a class that is defined later is quoted.
    """
    is_list = isinstance(value, cst.List)
    made = context.global_("list" if is_list else "dict")
    match emptied(type_, is_list=is_list):
        case ListType() | MapType() as one if not names_unwritten(context, one):
            return annotation(context, one)
        case ListType(item):
            return py.subscript(made, _quoted(context, item))
        case MapType(item, key):
            return py.subscript(made, annotation(context, key), _quoted(context, item))
        case _:
            return made


def _quoted(context: Context, type_: Type) -> Expression:
    return py.constant(code_of(annotation(context, type_)))


# Functions


def emit_function_def(context: Context, statement: n.FunctionDef) -> Statement:
    """Emits `f name(parameters) -> schema:` with its body."""
    facts, classes = context.facts.functions[statement], context.output.classes
    is_bare = statement in context.choices.bare_functions
    name_titles(context, statement)
    for parameter in statement.parameters:
        classes.name_schema(parameter.schema, parameter.name.text)
    classes.name_result(statement.returns, statement.name.text)
    parameters = py.parameters(
        _parameter(context, parameter, type_, is_bare=is_bare)
        for parameter, type_ in zip(statement.parameters, facts.parameters, strict=True)
    )
    returns = None if is_bare else _returns(context, facts)
    end = (statement.returns or statement.body[0]).span.start
    between = take(context.inner, statement.span.start, end) if statement.parameters else []
    inside = context.called(context.facts.names.scopes[statement])
    head = context.comments.of(statement).head
    body = emit_body(
        inside,
        statement.body,
        head,
        lambda inside: _beginning(inside, statement),
        _ending(inside, facts),
    )
    awaits = context.plan.awaits
    is_async = awaits is not None and statement in awaits.functions
    name = context.name_of(statement.name)
    made = context.note(
        py.function(name, parameters, returns, body, is_async=is_async), statement.span
    )
    if not between:
        return made
    places = [parameter.span for parameter in statement.parameters]
    return with_comments(made, places, between, context.source)


def _parameter(
    context: Context, parameter: n.Parameter, type_: Type, *, is_bare: bool
) -> tuple[str, Expression | None, Expression | None]:
    """The name of a parameter, its annotation and its default."""
    default = None
    if parameter in context.choices.made_in_calls:
        default, type_ = _left_out(type_), union((type_, NIL))
    elif parameter.default is not None:
        default = context.emit(parameter.default)
    doc = context.module.docs.get(parameter)
    if context.facts.names.of(parameter.name) in context.choices.variables.open:
        type_ = ANY
    written = None if is_bare else field_annotation(context, type_, doc)
    return context.name_of(parameter.name), written, default


def _left_out(type_: Type) -> Expression:
    """The default that marks a missing argument:

    `...` if the parameter may be `None`, else `None`.
    """
    return cst.Ellipsis() if type_ == ANY else py.constant(None)


def _returns(context: Context, facts: FunctionFacts) -> Expression:
    if is_stream(facts.node.returns):
        return py.subscript(result_class(context, facts.node), py.name("str"))
    if facts.declared is not None:
        return field_annotation(context, facts.declared, None)
    if facts.node in context.facts.history.does:
        given = field_annotation(context, facts.gives, None)
        return py.subscript(result_class(context, facts.node), given)
    if facts.gives == NIL:
        return py.constant(None)
    if facts.gives == NEVER and any(isinstance(node, n.FailStmt) for node in walk(facts.node)):
        return context.global_("NoReturn")
    return field_annotation(context, facts.gives, None)


def _beginning(context: Context, statement: n.FunctionDef) -> list[Statement]:
    """The first statements of a function.

    They are the docstring, the defaults that each call evaluates, and the copies of outer
    variables.
    """
    made: list[Statement] = []
    doc = context.module.docs.get(statement)
    if context.is_async and context.facts.history.gives_stream(statement):
        doc = _AWAITED if doc is None else f"{doc}\n\n{_AWAITED}"
    if doc is not None:
        made.append(py.line(docstring(doc)))
        context.note(made[0], statement.span)
    types = context.facts.functions[statement].parameters
    for parameter, type_ in zip(statement.parameters, types, strict=True):
        if parameter in context.choices.made_in_calls:
            made.append(_made_in_call(context, parameter, type_))
    for symbol in context.scope.symbols.values():
        outer = symbol.starts_from
        if outer is None:
            continue
        is_builtin = outer.kind == "builtin"
        value = context.operator(outer.name) if is_builtin else py.name(context.names[outer])
        copy = context.note(
            py.line(py.assignment(py.name(context.names[symbol]), value)), statement.name.span
        )
        if symbol.starts_late:
            # The outer name may have no value yet, as only some paths read it.
            unset = py.call(context.global_("suppress"), [context.global_("NameError")])
            made.append(
                context.note(cst.With([cst.WithItem(unset)], py.block([copy])), statement.name.span)
            )
        else:
            made.append(copy)
    return made


def _made_in_call(context: Context, parameter: n.Parameter, type_: Type) -> cst.If:
    """Emits `if rows is None: rows = []`, which evaluates the default of a parameter."""
    assert parameter.default is not None
    name = context.name_of(parameter.name)
    line = py.line(py.assignment(py.name(name), context.emit(parameter.default)))
    made = cst.If(py.comparison(py.name(name), "is", _left_out(type_)), py.block([line]))
    for one in (line, made):
        context.note(one, parameter.span)
    return made


def _ending(context: Context, facts: FunctionFacts) -> list[Statement]:
    """The last `return` of a function that may end without a `ret`, in a list.

    The list is empty if the function needs no such statement.
    """
    if facts.declared is not None and facts.can_lack_value:
        value = checked(context, py.constant(None), facts.declared)
    elif context.choices.values.gives_none_at_its_end(facts):
        value = py.constant(None)
    else:
        return []
    made = context.note(py.line(py.returned(value)), facts.node.name.span)
    return [made]
