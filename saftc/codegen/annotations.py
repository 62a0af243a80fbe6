"""Writes annotations: `list[Row]` for `[{id: int}]`, with `class Row` above the statement."""

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from saftc.check.history import Keeper
from saftc.check.names import Symbol
from saftc.codegen import python as py
from saftc.codegen.context import Context
from saftc.codegen.layout import code_of
from saftc.codegen.python import Expression, Statement
from saftc.codegen.statements.classes import class_def
from saftc.lower.variables import Annotation
from saftc.types.foreign import PythonClass
from saftc.types.types import (
    ANY,
    CLASSES_OF_DATES,
    DECIMAL,
    KEYS,
    NEVER,
    NIL,
    RESULT,
    BuiltinType,
    CallableType,
    FunctionType,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    RecordType,
    Scalar,
    SelfType,
    TupleType,
    Type,
    UnionType,
    is_known,
    is_plain_dict,
    keys_of,
    values_of,
    within,
    without,
)

_SCALARS = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "string": "str",
    "image": "Image",
    "file": "File",
}

_DICT = "dict[str, "
_ANY_DICT = f"{_DICT}Any]"


def annotation(context: Context, type_: Type) -> Expression:
    """Returns the Python annotation for a type of Saft."""
    alias = context.output.classes.aliases.get(type_)
    if alias is not None:
        return context.type_(alias)
    match type_:
        case Scalar(kind="nil"):
            return py.constant(None)
        case Scalar(kind="dataframe"):
            return dataframe_class(context)
        case Scalar() if type_ in CLASSES_OF_DATES.values():
            return class_of_date(context, type_)
        case Scalar():
            return context.global_(_SCALARS.get(type_.kind, "Any"))
        case LiteralType():
            return _literals(context, [type_])
        case ListType():
            return py.subscript(context.global_("list"), annotation(context, type_.item))
        case TupleType():
            items = [annotation(context, item) for item in type_.items] or [py.tuple_([])]
            return py.subscript(context.global_("tuple"), *items)
        case ObjectType(is_declared=True):
            text = _class_of(context, type_)
            return context.type_(text) if "." in text else context.own(text)
        case ObjectType() | MapType():
            return _dict(context, [type_])
        case RecordType():
            return _record(context, type_)
        case SelfType():
            return py.name(context.type_name(type_.name))
        case UnionType() if any(map(_is_function, type_.members)):
            return context.global_("Any")
        case UnionType():
            return _union(context, type_)
        case CallableType(parameters, result):
            given = annotation(context, result)
            if context.is_async and is_known(result):
                given = py.union([py.subscript(context.global_("Awaitable"), given), given])
            takes = py.list_([annotation(context, one) for one in parameters])
            return py.subscript(context.global_("Callable"), takes, given)
        case FunctionType() | BuiltinType():
            return context.global_("Any")
        case _:
            assert_never(type_)


def _dict(context: Context, types: Sequence[ObjectType | MapType]) -> Expression:
    """The annotation of plain objects whose keys are of one kind, such as `dict[str, int]`.

    The value type is `Any` if the values differ in type.
    """
    key = annotation(context, keys_of(types[0]))
    value = annotation(context, common_value(types))
    return py.subscript(context.global_("dict"), key, value)


def _record(context: Context, type_: RecordType) -> Expression:
    """The annotation of a record: the name of its class.

    If the script has no name for the class, the class is imported from its module.
    """
    definition, classes = type_.definition, context.output.classes
    if type_ == RESULT:
        return py.subscript(context.global_("Result"), context.global_("Any"))
    if definition is None:
        return context.global_(type_.name)
    known = context.facts.name_of_record(definition)
    if known is not None:
        return context.type_(known)
    if definition not in classes.imported:
        module = context.facts.module_of(definition)
        module = context.facts.relative_names.get(module, module)
        script = context.facts.script_of_record(definition)
        if script is not None:
            module += context.suffix_of(script)
        classes.imported[definition] = _imported(context, module, type_.name)
    return context.own(classes.imported[definition])


def _imported(context: Context, module: str, name: str) -> str:
    """Imports a class for which the script has no name. Returns its name in the module."""
    alias, taken = name, context.output.classes.taken
    while alias in taken:
        alias += "_"
    taken.add(alias)
    context.output.imports.own.add((module, name, alias))
    return alias


def variable_annotation(
    context: Context, found: Annotation, symbol: Symbol | None = None
) -> Expression:
    """The annotation of a variable, such as `Result[str] | str`."""
    made = [
        py.subscript(result_class(context, symbol), annotation(context, one))
        for one in found.results
    ]
    return py.union([*made, *([annotation(context, found.type)] if found.type != NEVER else [])])


def result_class(context: Context, keeper: Keeper | None) -> Expression:
    """The class of the prompt result that `keeper`, a variable or function, holds or returns.

    It is `AsyncResult` for a stream in async form, otherwise `Result`.
    """
    is_stream = keeper is not None and context.facts.history.gives_stream(keeper)
    return context.global_("AsyncResult" if is_stream and context.is_async else "Result")


def checked(context: Context, value: Expression, wanted: Type) -> Expression:
    """The call `check(value, wanted)` of the runtime."""
    return py.call(context.global_("check"), [value, annotation(context, wanted)])


def class_of_date(context: Context, type_: Scalar) -> Expression:
    """The Python class of a date, time, duration or decimal, such as `dt.date`.

    If the script imports the class, the script's name for it is used.
    """
    for text, symbol in context.facts.own_names.items():
        declared = context.facts.python.get(symbol)
        if isinstance(declared, PythonClass) and declared.schema == type_:
            return context.type_(text)
    name = next(name for (_, name), one in CLASSES_OF_DATES.items() if one == type_)
    if type_ == DECIMAL:
        return context.global_(name)
    return py.attribute(context.global_("dt"), name)


def dataframe_class(context: Context) -> Expression:
    """The class `pl.DataFrame`."""
    return py.attribute(context.global_("pl"), "DataFrame")


def common_value(types: Iterable[ObjectType | MapType]) -> Type:
    """Returns the type of the values of plain dicts, or `any` if the values differ in type."""
    found = {part for type_ in types for part in values_of(type_)}
    return found.pop() if len(found) == 1 else ANY


def _union(context: Context, type_: UnionType) -> Expression:
    made: list[Expression] = []
    for group in grouped(type_):
        literals = [member for member in group if isinstance(member, LiteralType)]
        if literals:
            made.append(_literals(context, literals))
        elif is_plain_dict(group[0]):
            made.append(_dict(context, list(filter(is_plain_dict, group))))
        elif group[0] != NIL:
            made.append(annotation(context, group[0]))
    made = _once(made)
    if NIL in type_.members:
        alias = context.output.classes.aliases.get(without(type_, NIL))
        if alias is not None:
            made = [context.type_(alias)]
        made.append(py.constant(None))
    return py.union(made)


def grouped(type_: UnionType) -> Iterator[Sequence[Type]]:
    """Yields the members of a union in groups. An annotation writes each group as one part.

    All literals form a group, and so do all plain dicts with keys of the same kind. None comes
    last.
    """
    literals = [member for member in type_.members if isinstance(member, LiteralType)]
    plain = list(filter(is_plain_dict, type_.members))
    dicts = ([one for one in plain if keys_of(one) == key] for key in KEYS)
    groups = (literals, *dicts)
    for member in type_.members:
        group = next((one for one in groups if member in one), [member])
        if member == group[0] and member != NIL:
            yield group
    if NIL in type_.members:
        yield [NIL]


def _once(parts: Sequence[Expression]) -> list[Expression]:
    """Returns the distinct annotations.

    `dict[str, Any]` replaces all other dicts with string keys.
    """
    by_text = {code_of(part): part for part in parts}
    if _ANY_DICT in by_text:
        by_text = {t: p for t, p in by_text.items() if t == _ANY_DICT or not t.startswith(_DICT)}
    return list(by_text.values())


def _literals(context: Context, literals: Sequence[LiteralType]) -> Expression:
    values = (py.constant(literal.value) for literal in literals)
    return py.subscript(context.global_("Literal"), *values)


def _is_function(type_: Type) -> bool:
    """True for the type of one specific function, which no annotation can express."""
    return isinstance(type_, FunctionType | BuiltinType)


# Classes


def _class_of(context: Context, type_: ObjectType) -> str:
    """Returns the name of the class for an object type.

    If the type comes from Python, its class is imported. Otherwise, unless a class has the same
    fields, a new class is written above the statement.
    """
    classes = context.output.classes
    text = classes.names.get(type_.fields)
    origin = context.facts.python_shapes.get(type_.fields)
    if text is None and origin is not None:
        module = context.facts.relative_names.get(origin[0], origin[0])
        text = classes.names[type_.fields] = _imported(context, module, origin[1])
    if text is None:
        text = classes.new_name(type_)
        classes.pending.append(object_class(context, type_, text))
    return text


def object_class(context: Context, type_: ObjectType, text: str, doc: str = "") -> Statement:
    """Emits the TypedDict called `text` for an object type, with `doc` as its docstring."""
    classes = context.output.classes
    classes.names[type_.fields] = text
    classes.taken.add(text)
    # The fields of an enclosing class do not hide names in this class.
    context = context.in_class()
    entries = [
        (field.name, field_annotation(context, field.type, field.doc)) for field in type_.fields
    ]
    typed_dict = context.global_("TypedDict")
    if _can_be_class(context, type_):
        return class_def(text, [typed_dict], entries, doc)
    definition = py.call(typed_dict, [py.constant(text), py.dict_(entries)])
    return py.line(py.assignment(py.name(text), definition))


def _can_be_class(context: Context, type_: ObjectType) -> bool:
    """True if the fields can be written in a class body.

    Python must accept their names, and no field may hide a name that a later annotation needs.
    """
    keys = {field.name for field in type_.fields}
    if not all(py.is_identifier(key) and not key.startswith("__") for key in keys):
        return False
    above = set[str]()
    for field in type_.fields:
        if not above.isdisjoint(py.names_in(annotation(context, field.type))):
            return False
        above.add(field.name)
    return True


def field_annotation(context: Context, type_: Type, doc: str | None) -> Expression:
    """The annotation of a field or parameter, including its doc comment."""
    plain = annotation(context, type_)
    if names_unwritten(context, type_):
        # A quoted annotation, which Python resolves only when needed.
        plain = py.constant(code_of(plain))
    if doc is None:
        return plain
    text = py.constant(" ".join(doc.split("\n")))
    return py.subscript(context.global_("Annotated"), plain, text)


def names_unwritten(context: Context, type_: Type) -> bool:
    """True if an annotation of `type_` names a type that the module defines later."""
    facts, classes = context.facts, context.output.classes
    for part in within(type_, classes.aliases):
        text = classes.aliases.get(part)
        if text is None and isinstance(part, RecordType | SelfType):
            text = part.name if part.name in facts.aliases else None
            if isinstance(part, RecordType) and part.definition is not None:
                text = facts.name_of_record(part.definition)
        if text is not None and text not in classes.written:
            return True
    return False
