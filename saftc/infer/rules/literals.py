"""Literals of lists, tuples and objects: their types, and which spreads are proved.

Each line has a literal, its type, and the type of a variable in it:

    [1, ...xs]                  [int]                   xs: [int]
    {...row, note: "x"}         {id: int, note: string} row: {id: int}
    {...counts, [key]: 1}       {[string]: int}         counts: {[string]: int}
    {[day]: 1}                  {[date]: int}           day: date
    {...ticket, title: "x"}     Ticket                  ticket: Ticket (a changed copy)

The type that the context expects is passed down to the items and fields. If a spread does not have
that type, the literal has its inferred type instead, and is checked against the expected type.
"""

from collections.abc import Iterable, Sequence

from saftc.check.facts import RecordFacts
from saftc.check.forms import ChangedCopy, native_if, written_value
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.diagnostics.near import did_you_mean
from saftc.infer.rules.context import Inference
from saftc.infer.rules.environment import Environment
from saftc.infer.rules.expected import fit_into
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.types.dates import EXAMPLES_OF_DATES, is_read
from saftc.types.relations import Assignability, fit
from saftc.types.types import (
    ANY,
    EMPTY_OBJECT,
    KEYS,
    NEVER,
    NIL,
    STRING,
    FieldType,
    ListType,
    MapType,
    ObjectType,
    RecordType,
    Scalar,
    TupleType,
    Type,
    is_only,
    item_type,
    keys_of,
    kind_word,
    may_be,
    members,
    show,
    show_value,
    union,
    values_of,
    widened,
)

# Lists


def list_literal(
    inference: Inference, node: n.ListLiteral, env: Environment, wanted: Type | None
) -> Type:
    """The type of `[a, ...xs]`."""
    asked = member_of_kind(wanted, ListType)
    wanted_item = asked.item if isinstance(asked, ListType) and asked.item != ANY else None
    items: list[Type] = []
    is_fitting = True
    for item in node.items:
        if isinstance(item, n.Spread):
            items.append(_spread_items(inference, item, env))
            is_fitting = is_fitting and fit(items[-1], wanted_item or ANY) == Assignability.EXACT
        else:
            items.append(_value(inference, item, wanted_item, env))
    if wanted_item is not None and is_fitting:
        return ListType(wanted_item)
    return ListType(union(items))


def _spread_items(inference: Inference, node: n.Spread, env: Environment) -> Type:
    """The type of the items that `...xs` adds to a list."""
    spread = inference.expression(node.value, env)
    is_proved = is_only(spread, "list", "tuple")
    inference.facts.forms.spreads[node] = native_if(is_proved)
    _check_spread(inference, node, spread, ("list", "tuple"))
    fitting = union(one for one in members(spread) if _may_be_any(one, ("list", "tuple")))
    return NEVER if fitting == NEVER else item_type(fitting)


def tuple_literal(
    inference: Inference, node: n.TupleLiteral, env: Environment, wanted: Type | None
) -> Type:
    """The type of `(a, b)`."""
    asked = member_of_kind(wanted, TupleType)
    if isinstance(asked, TupleType) and len(asked.items) == len(node.items):
        for item, wanted_item in zip(node.items, asked.items, strict=True):
            fit_into(inference, item, wanted_item, env)
        return asked
    items = tuple(widened(inference.expression(item, env)) for item in node.items)
    # An item without a type is not inferred yet: with the type of now, a union would keep both.
    return NEVER if NEVER in items else TupleType(items)


# Objects


def object_literal(
    inference: Inference, node: n.ObjectLiteral, env: Environment, wanted: Type | None
) -> Type:
    """The type of `{a: 1, ...row, [key]: 2}`."""
    asked = _intended_object(node.fields, wanted)
    copied = _changed_copy(inference, node, asked, env)
    if copied is not None:
        return copied
    if isinstance(asked, ObjectType) and len(node.named) == len(node.fields):
        _merged(inference, node.fields, env, asked)
        _check_fields(inference, node, asked)
        return asked
    return _object_of(inference, node.fields, env, asked)


def object_of_entry(
    inference: Inference, entry: n.ComputedField, env: Environment, wanted: Type | None
) -> Type:
    """The type of an object comprehension whose item is `entry`."""
    return _object_of(inference, (entry,), env, _intended_object((entry,), wanted))


def _object_of(
    inference: Inference,
    entries: Sequence[n.Entry],
    env: Environment,
    asked: ObjectType | MapType | None,
) -> Type:
    given, spreads = _merged(inference, entries, env, asked)
    return asked if asked is not None and _takes(asked, given, spreads) else given


def _changed_copy(
    inference: Inference,
    node: n.ObjectLiteral,
    asked: ObjectType | MapType | None,
    env: Environment,
) -> Type | None:
    """The type of a changed copy of a record: `{...ticket, severity: "high"}`.

    The literal is a changed copy if the first spread may be a record and no object is expected. For
    other literals, the result is None.
    """
    facts = inference.facts
    facts.forms.copies.pop(node, None)
    first, *entries = node.fields or (None,)
    if not isinstance(first, n.Spread):
        return None
    spread = inference.expression(first.value, env)
    records: list[RecordFacts] = []
    others: list[Type] = []
    for member in members(spread):
        definition = member.definition if isinstance(member, RecordType) else None
        record = None if definition is None else facts.record_facts.get(definition)
        if record is None or record.copied_by is None:
            others.append(member)
        else:
            records.append(record)
    if not records and ANY not in others:
        return None
    is_open = any(_may_be_any(one, ("object",)) for one in others)
    if is_open and asked is not None:
        return None
    copy = ChangedCopy("changed", is_open=is_open)
    if not others and len(records) == 1:
        copy = ChangedCopy(records[0].copied_by or "changed", records[0].node)
    facts.forms.copies[node] = copy
    facts.forms.spreads[first] = native_if(not others)
    if not is_open:
        _check_spread(inference, first, spread, ("object", *(one.type.name for one in records)))
    for entry in entries:
        _change(inference, entry, copy, records, spread, env)
    if is_open:
        _settle_keys(inference, node.fields, None)
    return ANY if is_open else union(record.type for record in records)


def _change(
    inference: Inference,
    entry: n.Entry,
    copy: ChangedCopy,
    records: Sequence[RecordFacts],
    spread: Type,
    env: Environment,
) -> None:
    """Infers an entry of a changed copy of a record, and reports an invalid entry."""
    facts = inference.facts
    if isinstance(entry, n.Field):
        name = entry.key.text
        settable = [one.fields for one in records if _can_be_set(one, name)]
        if settable and not copy.is_open:
            fit_into(inference, entry.value, union(one[name] for one in settable), env)
            return
        inference.expression(entry.value, env)
        if not copy.is_open and not any(one.is_open for one in records):
            names = [one for record in records for one in record.fields if _can_be_set(record, one)]
            shown = ", ".join(f"`{one}`" for one in list(dict.fromkeys(names))[:8])
            hint = did_you_mean(name, names) or f"its fields are {shown}"
            code = catalogue.MISSING_FIELD
            inference.report(code.at(entry.key.span, found=show(spread), name=name, hint=hint))
        return
    if isinstance(entry, n.ComputedField):
        inference.expression(entry.key, env)
        inference.expression(entry.value, env)
        facts.forms.keys[entry.key] = native_if(is_proved=True)
    else:
        given = inference.expression(entry.value, env)
        facts.forms.spreads[entry] = native_if(is_only(given, "object"))
        if copy.is_open:
            _check_spread(inference, entry, given, ("object",))
    if not copy.is_open:
        inference.report(catalogue.COPY_ENTRY.at(entry.span, found=show(spread)))


def _can_be_set(record: RecordFacts, name: str) -> bool:
    """Whether a record has the field `name` and its constructor accepts it."""
    return name in record.fields and any(one.name.text == name for one in record.node.fields)


def _check_fields(inference: Inference, node: n.ObjectLiteral, asked: ObjectType) -> None:
    """Reports fields of a literal that its type does not have, and fields that are missing."""
    given = {field.key.text for field in node.named}
    missing = [field.name for field in asked.fields if field.name not in given]
    for key in (field.key for field in node.named if asked.field(field.key.text) is None):
        hint = did_you_mean(key.text, missing)
        code = catalogue.MISSING_FIELD
        inference.report(code.at(key.span, found=show(asked), name=key.text, hint=hint))
    for field in asked.fields:
        if field.name in missing and NIL not in members(field.type) and field.type != ANY:
            found, code = f"an object without `{field.name}`", catalogue.TYPE_MISMATCH
            inference.report(code.at(node.span, expected=show(asked), found=found))


def _merged(
    inference: Inference,
    entries: Sequence[n.Entry],
    env: Environment,
    asked: ObjectType | MapType | None,
) -> tuple[ObjectType | MapType, list[ObjectType | MapType]]:
    """The type of an object of the entries, and the possible types of its spread objects.

    If a spread object has several possible types, the entries become a map of all their values,
    unless the types have the same fields.
    """
    given: ObjectType | MapType = EMPTY_OBJECT
    spreads: list[ObjectType | MapType] = []
    asked_values = asked.value if isinstance(asked, MapType) else None
    for position, entry in enumerate(entries):
        match entry:
            case n.Field():
                wanted = _wanted_of(asked, entry.key.text)
                is_last = all(isinstance(later, n.Field) for later in entries[position + 1 :])
                if not is_last and not isinstance(entry.value, n.Prompt):
                    wanted = None  # a later entry may replace it
                type_ = _value(inference, entry.value, wanted, env)
                added = ObjectType((FieldType(entry.key.text, type_),), is_declared=False)
            case n.ComputedField():
                inference.expression(entry.key, env)
                added = MapType(_value(inference, entry.value, asked_values, env))
            case n.Spread():
                spread = inference.expression(entry.value, env)
                inference.facts.forms.spreads[entry] = native_if(is_only(spread, "object"))
                _check_spread(inference, entry, spread, ("object",))
                possible = list(_objects_in(spread))
                spreads += possible
                added = _one_of(possible)
        given = _joined(given, added)
    key = _settle_keys(inference, entries, asked)
    return (MapType(given.value, key) if isinstance(given, MapType) else given), spreads


def _one_of(possible: Sequence[ObjectType | MapType]) -> ObjectType | MapType:
    """The type of an object that has one of the types `possible`.

    If the types have the same fields, each field has the types that it has in them. So `state`
    keeps its fields in a loop that says `state = {...state, seen: state.seen + [word]}`. Otherwise
    the object is a map of all their values.
    """
    objects = [one for one in possible if isinstance(one, ObjectType)]
    names = {frozenset(field.name for field in one.fields) for one in objects}
    if len(objects) < len(possible) or len(names) != 1:
        return MapType(union(value for one in possible for value in values_of(one)))
    if len(objects) == 1:
        return objects[0]
    fields: list[FieldType] = []
    for name in (field.name for field in objects[0].fields):
        found = [field for one in objects if (field := one.field(name)) is not None]
        type_ = union(field.type for field in found)
        fields.append(FieldType(name, type_, may_lack=any(field.may_lack for field in found)))
    return ObjectType(tuple(fields), is_declared=False)


def _wanted_of(asked: ObjectType | MapType | None, name: str) -> Type | None:
    match asked:
        case MapType():
            return asked.value
        case ObjectType():
            field = asked.field(name)
            return None if field is None else field.type
        case None:
            return None


def _settle_keys(
    inference: Inference, entries: Sequence[n.Entry], asked: ObjectType | MapType | None
) -> Scalar:
    """The type of all keys of an object. Keys of another type are reported.

    It is the expected key type, if there is one. Otherwise it is the key type of the first entry
    with a known key type, or string.
    """
    said = [(entry, _keys_said(inference, entry)) for entry in entries]
    first = (kind for _, kinds in said for kind in kinds)
    wanted = keys_of(asked) if asked is not None else next(first, STRING)
    for entry, kinds in said:
        match entry:
            case n.Field(key=key) if wanted != STRING:
                inference.report(_wrong_key(key.span, STRING, wanted, key.text))
            case n.ComputedField(key=key):
                _key(inference, key, wanted)
            case n.Spread():
                _note_kind(inference, entry, wanted)
                if kinds and wanted not in kinds:
                    inference.report(_wrong_key(entry.span, kinds[0], wanted))
            case _:
                pass
    return wanted


def _keys_said(inference: Inference, entry: n.Entry) -> list[Scalar]:
    """The possible types of the keys that an entry adds, or an empty list if unknown."""
    types = inference.facts.types
    match entry:
        case n.Field():
            return [STRING]
        case n.ComputedField(key=key):
            return [kind for kind in KEYS if may_be(types[key], kind) and types[key] != ANY]
        case n.Spread(value=value):
            owners = _objects_in(types[value]) if types[value] != ANY else ()
            return [keys_of(one) for one in owners if one != EMPTY_OBJECT]


def _key(inference: Inference, node: n.Expression, wanted: Scalar) -> None:
    """Checks that a computed key (in brackets) has the type of the object's keys."""
    type_ = inference.facts.types[node]
    inference.facts.forms.keys[node] = native_if(is_only(type_, wanted.kind))
    _note_kind(inference, node, wanted)
    if not may_be(type_, wanted) and type_ != NEVER:
        written = written_value(node)
        text = written if isinstance(written, str) else None
        inference.report(_wrong_key(node.span, type_, wanted, text))
        return
    wrong = union(one for one in members(type_) if one != ANY and not may_be(one, wanted))
    if wrong != NEVER:
        inference.may_fail(node, wrong, f"and a key of an object must be a {wanted.kind}")


def _note_kind(inference: Inference, node: n.Expression | n.Spread, wanted: Scalar) -> None:
    inference.facts.forms.dated.pop(node, None)
    if wanted != STRING:
        inference.facts.forms.dated[node] = wanted


def _wrong_key(
    span: Span, found: Type, wanted: Scalar, written: str | None = None
) -> Diagnostic:
    """The diagnostic for a key whose type differs from that of the object's keys."""
    hint = "`str(x)` converts any value to a string"
    if wanted != STRING and (written is not None or found not in KEYS):
        is_one = written is not None and is_read(wanted, written)
        text = show_value(written if is_one and written else EXAMPLES_OF_DATES[wanted.kind])
        words = "write" if is_one else "such a key is"
        hint = f"{words} `[{wanted.kind}({text})]`"
    elif found in KEYS:
        makes = (
            "`str(x)` converts it to a string"
            if wanted == STRING
            else f"`{wanted.kind}(x)` reads a string"
        )
        hint = "the keys of one object are all strings, all dates or all datetimes"
        hint += f"; {makes}" if STRING in (found, wanted) else ""
    return catalogue.KEY_TYPE.at(span, expected=wanted.kind, found=show(found), hint=hint)


def _objects_in(spread: Type) -> Iterable[ObjectType | MapType]:
    """Yields the possible object types of a spread value.

    A spread value of unknown type counts as a map of any values.
    """
    for member in members(spread):
        match member:
            case ObjectType() | MapType():
                yield member
            case _ if member == ANY:
                yield MapType(ANY)
            case _:
                pass


def _joined(one: ObjectType | MapType, other: ObjectType | MapType) -> ObjectType | MapType:
    if isinstance(one, ObjectType) and isinstance(other, ObjectType):
        fields = {field.name: field for field in one.fields}
        fields |= {field.name: _over(field, fields.get(field.name)) for field in other.fields}
        return ObjectType(tuple(fields.values()), is_declared=False)
    return MapType(union((*values_of(one), *values_of(other))))


def _over(field: FieldType, earlier: FieldType | None) -> FieldType:
    """The field that results if an object with `field` is spread over an object with `earlier`.

    If `field` may be absent, the value of `earlier` may remain.
    """
    if not field.may_lack:
        return FieldType(field.name, field.type)
    if earlier is None:
        return FieldType(field.name, field.type, may_lack=True)
    type_ = union((field.type, earlier.type))
    return FieldType(field.name, type_, may_lack=earlier.may_lack)


def _takes(
    asked: ObjectType | MapType,
    given: ObjectType | MapType,
    spreads: Sequence[ObjectType | MapType],
) -> bool:
    """Whether a literal has the type `asked` without a check, also for Python's type checkers.

    The type checkers know the fields of a TypedDict, but only one type for all values of a dict.
    """
    if isinstance(asked, MapType):
        return all(
            fit(union(values_of(one)), asked.value) == Assignability.EXACT
            and not (isinstance(one, ObjectType) and one.is_declared)
            for one in spreads
        )
    return (
        all(isinstance(one, ObjectType) and one.is_declared for one in spreads)
        and isinstance(given, ObjectType)
        and {field.name for field in given.fields} == {field.name for field in asked.fields}
        and all(
            (own := given.field(field.name)) is not None
            and fit(own.type, field.type) == Assignability.EXACT
            for field in asked.fields
        )
    )


# Helpers


def _value(inference: Inference, node: n.Expression, wanted: Type | None, env: Environment) -> Type:
    if wanted is None or wanted == ANY:
        return widened(inference.expression(node, env))
    return fit_into(inference, node, wanted, env)


def _check_spread(
    inference: Inference, node: n.Spread, spread: Type, taken: tuple[str, ...]
) -> None:
    """Reports a spread value that may be of a kind other than those in `taken`."""
    is_list = "list" in taken
    where, expected = ("a list", "a list or a tuple") if is_list else ("an object", "an object")
    wrong = union(one for one in members(spread) if not _may_be_any(one, taken))
    if wrong == NEVER:
        return
    if wrong == spread:
        inference.report(
            catalogue.NOT_SPREAD.at(
                node.span,
                where=where,
                expected=expected,
                found=show(spread),
                hint=_spread_hint(inference, spread, node.value, is_list=is_list),
            )
        )
    else:
        inference.may_fail(node.value, wrong, f"and `...` in {where} needs {expected}")


def _may_be_any(type_: Type, taken: tuple[str, ...]) -> bool:
    return type_ in (ANY, NEVER) or kind_word(type_) in taken


def _spread_hint(
    inference: Inference, spread: Type, node: n.Expression, *, is_list: bool
) -> str | None:
    name = node.text if isinstance(node, n.Name) else "x"
    words = {kind_word(member) for member in members(spread)}
    if is_list and "object" in words:
        return f"`keys({name})` and `values({name})` are lists"
    if is_list and "string" in words:
        return f"`split({name})` gives words, `chars({name})` the characters"
    if not is_list and isinstance(spread, RecordType):
        fields = list(inference.facts.fields_of(spread))[:1]
        return f"name its fields: `{{{fields[0]}: {name}.{fields[0]}}}`" if fields else None
    return None


def member_of_kind(wanted: Type | None, kind: type[Type]) -> Type | None:
    """The only member of `wanted` that is of the class `kind`, or None if several or none are."""
    if wanted is None:
        return None
    meant = [member for member in members(wanted) if isinstance(member, kind)]
    # If there are several, the check at run time picks one.
    return meant[0] if len(meant) == 1 else None


def _intended_object(
    entries: Sequence[n.Entry], wanted: Type | None
) -> ObjectType | MapType | None:
    """The object type in `wanted` that an object literal is meant to have, or None.

    If `wanted` has several object types, the fields of the literal select one of them.
    """
    if wanted is None:
        return None
    meant = [member for member in members(wanted) if isinstance(member, ObjectType | MapType)]
    if len(meant) == 1:
        return meant[0]
    given = {field.key.text for field in entries if isinstance(field, n.Field)}
    if len(given) < len(entries):
        return None
    fitting = [
        member
        for member in meant
        if isinstance(member, ObjectType)
        and given <= {field.name for field in member.fields}
        and all(f.name in given or NIL in members(f.type) for f in member.fields)
    ]
    return fitting[0] if len(fitting) == 1 else None
