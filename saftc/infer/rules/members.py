"""Members and items: the types of `value.name`, `value.0`, `value[key]` and `value[a:b]`."""

from collections.abc import Callable, Iterable
from typing import Literal

from saftc.check.facts import RecordFacts
from saftc.check.forms import (
    Attribute,
    Form,
    Getter,
    ItemAccess,
    MemberForm,
    ResultAttribute,
    native_if,
    written_value,
)
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.diagnostics.near import did_you_mean, is_slip, meant_to_be
from saftc.infer.rules.context import Inference
from saftc.infer.rules.environment import Environment, target_of
from saftc.infer.rules.hints import history_hint, index_hint, key_hint, listed, member_hint
from saftc.syntax import nodes as n
from saftc.types.builtins import DATAFRAME_MEMBERS
from saftc.types.dates import MEMBERS_OF_DATES, METHODS_OF_DATES
from saftc.types.relations import Assignability, fit
from saftc.types.results import HISTORY_ONLY, MEMBER_TYPES, MEMBERS, misspelt_member
from saftc.types.types import (
    ANY,
    DATAFRAME,
    INT,
    NEVER,
    RESULT,
    STRING,
    ListType,
    MapType,
    ObjectType,
    RecordType,
    TupleType,
    Type,
    is_only,
    item_type,
    keys_of,
    members,
    show,
    union,
)


def member(inference: Inference, node: n.Member, env: Environment) -> Type:
    """The type of `value.name`."""
    value = inference.expression(node.value, env)
    form = inference.facts.forms.members[node] = _member_form(inference, node, value)
    foreign = inference.facts.member_of_module(node)
    if foreign is not None:
        module = inference.facts.modules[inference.facts.names.of(node.value)]
        inference.facts.lasting.setdefault(foreign, module.lasting_type(foreign))
        return inference.facts.foreign_type(foreign)
    enum = inference.facts.enum_of(node.value)
    if enum is not None:
        return _choice(inference, node, enum)
    names = inference.facts.names_of_module(node.value)
    is_unknown = names is not None and inference.facts.declared_by_python(node) is None
    if names is not None and is_unknown and not node.name.text.startswith("__"):
        hint = did_you_mean(node.name.text, names)
        inference.report(catalogue.UNKNOWN_NAME.at(node.name.span, name=node.name.text, hint=hint))
        return ANY
    if value in (STRING, ANY) and inference.facts.result_of(node.value) is not None:
        _check_spelling(inference, node)
    narrowed = env.narrowed(target_of(inference.facts.names, node))
    if narrowed is not None:
        return narrowed
    match form:
        case Form.STRUCTURE | ResultAttribute(attribute="data"):
            return ANY
        case ResultAttribute():
            return MEMBER_TYPES.get(node.name.text, value)
        case _ if _is_of_python(inference, node):
            return inference.facts.type_in_python(node)
        case _:
            return _of_members(
                inference,
                node,
                value,
                lambda member: _field(inference, member, node.name.text),
                lambda: _missing_member(inference, node, value),
                f"which has no field `{node.name.text}`",
            )


def _choice(inference: Inference, node: n.Member, enum: RecordFacts) -> Type:
    """The type of a member of an Enum, such as `Color.RED`.

    Other members of the class have the type `ANY`; a member that does not exist is reported.
    """
    name = node.name.text
    if name in enum.choices:
        return enum.type
    if (enum.python is None or enum.python.find(name) is None) and not name.startswith("_"):
        inference.report(
            catalogue.MISSING_FIELD.at(
                node.name.span,
                found=enum.node.name.text,
                name=name,
                hint=did_you_mean(name, enum.choices) or listed("it has", enum.choices),
            )
        )
    return ANY


def _check_spelling(inference: Inference, node: n.Member) -> None:
    """Reports a likely misspelling of a member of a result's history."""
    written = node.name.text
    meant = misspelt_member(written)
    if meant is not None:
        is_guess = not is_slip(written, meant, ())
        inference.report(
            catalogue.MISSING_FIELD.at(
                node.name.span,
                found="a result",
                name=written,
                hint=meant_to_be(meant, is_guess=is_guess),
            )
        )


def _member_form(inference: Inference, node: n.Member, value: Type) -> MemberForm:
    name = node.name.text
    if (value == ANY and inference.facts.is_imported(node.value)) or _is_of_python(inference, node):
        return Attribute(name)
    if value == RESULT and name in MEMBERS:
        return Attribute("data" if name == "value" else MEMBERS[name])
    if inference.facts.asks_history(node):
        is_text = value == STRING and inference.facts.is_untyped_result(node.value)
        is_structure = name == "value" and is_text
        return ResultAttribute("data" if is_structure else MEMBERS[name])
    is_untyped = inference.facts.is_untyped_result(node.value)
    if value == STRING and name != "length" and is_untyped:
        return Form.STRUCTURE
    if value == DATAFRAME and name in DATAFRAME_MEMBERS:
        return Attribute("height" if name == "length" else name)
    if value in (ANY, NEVER):
        return Form.OPS
    if value in MEMBERS_OF_DATES:
        return _form_of_date(value, name)
    owners = members(value)
    have_field = [_may_have_field(inference, owner, name) for owner in owners]
    if all(have_field) and all(isinstance(owner, ObjectType | MapType) for owner in owners):
        return _item_form(owners, name)
    if all(have_field) and all(isinstance(owner, RecordType) for owner in owners):
        return Attribute(name)
    has_length = is_only(value, "string", "object", "list", "tuple")
    has_length = has_length and not any(
        isinstance(owner, MapType) and owner.key == STRING for owner in owners
    )
    if name == "length" and has_length and not any(have_field):
        return Form.LENGTH
    return Form.OPS


def _form_of_date(value: Type, name: str) -> MemberForm:
    """The form of the member `name` of a date, time, duration or decimal.

    A name that Saft does not define is a Python method or invalid.
    """
    member = MEMBERS_OF_DATES[value].get(name)
    return Getter(name) if member is not None and member.is_called else Attribute(name)


def _item_form(owners: Iterable[Type], name: str) -> Literal[Form.GET, Form.ITEM, Form.OPS]:
    """The form of reading a field of objects, which depends on whether the field may be absent."""
    fields = [one.field(name) if isinstance(one, ObjectType) else None for one in owners]
    if not any(field is not None and field.may_lack for field in fields):
        return Form.ITEM
    return Form.OPS if None in fields else Form.GET


def _is_of_python(inference: Inference, node: n.Member) -> bool:
    """Whether `node` is a member of a Python module, class or value without a type in Saft."""
    facts = inference.facts
    owner = facts.types.get(node.value, ANY)
    if owner != ANY:
        # A constant of a module keeps its methods.
        is_constant = facts.is_imported(node.value) and not isinstance(owner, RecordType)
        return is_constant and not facts.has_field(owner, node.name.text)
    return facts.declared_by_python(node) is not None


def _may_have_field(inference: Inference, owner: Type, name: str) -> bool:
    """Whether `owner` has the field, or is a map that may have it as a key.

    The name `length` is excluded for a map, because it is known only at run time whether the name
    is a key or means the size.
    """
    if isinstance(owner, MapType):
        return owner.key == STRING and name != "length"
    return inference.facts.has_field(owner, name)


def _missing_member(inference: Inference, node: n.Member, value: Type) -> Diagnostic:
    name = node.name.text
    if name in HISTORY_ONLY:
        return catalogue.NO_HISTORY.at(
            node.name.span,
            found=show(value),
            name=name,
            hint=history_hint(inference.facts, node.value),
        )
    return catalogue.MISSING_FIELD.at(
        node.name.span,
        found=show(value),
        name=name,
        hint=member_hint(inference.facts, value, name, node),
    )


def _field(inference: Inference, value: Type, name: str) -> Type | None:
    match value:
        case ObjectType():
            field = value.field(name)
            if field is not None:
                return field.type
            return INT if name == "length" else None
        case MapType(key=key) if key != STRING:
            return INT if name == "length" else None
        case MapType():
            return union((value.value, INT)) if name == "length" else value.value
        case RecordType():
            return inference.facts.field_type(value, name)
        case ListType() | TupleType():
            return INT if name == "length" else None
        case _ if value in MEMBERS_OF_DATES:
            known = MEMBERS_OF_DATES[value].get(name)
            is_method = name in METHODS_OF_DATES[value]
            return ANY if known is None and is_method else None if known is None else known.type
        case _ if value == DATAFRAME:
            # The types of other attributes are unknown.
            return DATAFRAME_MEMBERS.get(name, ANY)
        case _:
            return INT if value == STRING and name == "length" else None


def tuple_member(inference: Inference, node: n.TupleMember, env: Environment) -> Type:
    """The type of `value.0`."""
    value = inference.expression(node.value, env)
    inference.facts.forms.items[node] = native_if(
        all(
            isinstance(owner, TupleType) and node.position < len(owner.items)
            for owner in members(value)
        )
    )
    return _item_of_tuple(inference, node, value, node.position)


def _item_of_tuple(inference: Inference, node: ItemAccess, value: Type, position: int) -> Type:
    def item(member: Type) -> Type | None:
        if isinstance(member, TupleType) and -len(member.items) <= position < len(member.items):
            return member.items[position]
        return None

    def wrong() -> Diagnostic:
        if isinstance(value, TupleType):
            return catalogue.OUT_OF_RANGE.at(node.span, index=position, count=len(value.items))
        hint = f"`.{position}` is for tuples; write `[{position}]`"
        if all(_item_at(one, INT, node.value) is None for one in members(value)):
            hint = index_hint(value, INT, node.value)
        return catalogue.NOT_INDEXABLE.at(
            node.span, found=show(value), how=f" with `.{position}`", hint=hint
        )

    return _of_members(inference, node, value, item, wrong, f"which has no `.{position}`")


def index(inference: Inference, node: n.Index, env: Environment) -> Type:
    """The type of `value[key]`."""
    value = inference.expression(node.value, env)
    key = inference.expression(node.key, env)
    if value == STRING and inference.facts.is_untyped_result(node.value):
        inference.facts.forms.items[node] = Form.STRUCTURE
        return ANY
    form = native_if(_has_native_index(value, key, node.key))
    if form is Form.NATIVE and isinstance(node.key, n.Literal) and is_only(value, "object"):
        form = _item_form(members(value), str(node.key.value))
        form = Form.NATIVE if form is Form.ITEM else form
    inference.facts.forms.items[node] = form
    if isinstance(value, TupleType) and (position := _constant_index(node.key)) is not None:
        return _item_of_tuple(inference, node, value, position)
    return _of_members(
        inference,
        node,
        value,
        lambda member: _item_at(member, key, node.key),
        lambda: _bad_index(inference, node, value, key),
        "which cannot be indexed so",
    )


def _bad_index(inference: Inference, node: n.Index, value: Type, key: Type) -> Diagnostic:
    if isinstance(value, ObjectType) and isinstance(node.key, n.Literal) and key == STRING:
        name = str(node.key.value)
        hint = key_hint(inference.facts, value, name)
        return catalogue.MISSING_FIELD.at(node.key.span, found=show(value), name=name, hint=hint)
    hint = index_hint(value, key, node.key)
    return catalogue.NOT_INDEXABLE.at(
        node.key.span, found=show(value), how=f" with {show(key)}", hint=hint
    )


def slice_(inference: Inference, node: n.Slice, env: Environment) -> Type:
    """The type of `value[start:stop:step]`."""
    value = inference.expression(node.value, env)
    is_proved = is_only(value, "string", "list", "tuple")
    for end in (node.start, node.stop, node.step):
        type_ = INT if end is None else inference.expression(end, env)
        is_proved = is_proved and is_only(type_, "int")
        if end is not None and fit(type_, INT) == Assignability.NEVER:
            inference.report(
                catalogue.TYPE_MISMATCH.at(end.span, expected="int", found=show(type_))
            )
    inference.facts.forms.items[node] = native_if(is_proved)
    return _of_members(
        inference,
        node,
        value,
        _slice_of,
        lambda: catalogue.NOT_INDEXABLE.at(
            node.value.span,
            found=show(value),
            how=" with a slice",
            hint="`head(x, count)` returns the first rows" if value == DATAFRAME else None,
        ),
        "which cannot be sliced",
    )


def _of_members(
    inference: Inference,
    node: n.Member | ItemAccess,
    value: Type,
    result_of: Callable[[Type], Type | None],
    mistake: Callable[[], Diagnostic],
    problem: str,
) -> Type:
    """The union of the results of `result_of` for the members of the type `value`.

    If `result_of` returns None for all members, `mistake` is reported. If it returns None for some
    members, a warning says that the value may be of these types. `problem` is the end of the
    warning's text, which says what is wrong with them.
    """
    if value in (ANY, NEVER):
        return value
    inference.facts.read_shapes.update(
        member.fields
        for member in members(value)
        if isinstance(member, ObjectType) and not member.is_declared
    )
    results = [result_of(member) for member in members(value)]
    possible = [result for result in results if result is not None]
    if not possible:
        inference.report(mistake())
        return ANY
    if len(possible) < len(results):
        pairs = zip(members(value), results, strict=True)
        wrong = union(member for member, result in pairs if result is None)
        inference.may_fail(node.value, wrong, problem)
    return union(possible)


def _constant_index(node: n.Expression) -> int | None:
    """The value of an index that is an int literal, or None."""
    value = written_value(node)
    return value if type(value) is int else None


def _has_native_index(owner: Type, key: Type, written: n.Expression) -> bool:
    """Whether Python's `value[key]` is certainly equivalent to Saft's."""
    if is_only(owner, "string", "list", "tuple") and is_only(key, "int"):
        return True
    if not is_only(owner, "object"):
        return False
    objects = [one for one in members(owner) if isinstance(one, ObjectType | MapType)]
    if not all(is_only(key, keys_of(one).kind) for one in objects):
        return False
    owners = [member for member in members(owner) if isinstance(member, ObjectType)]
    if isinstance(written, n.Literal):
        # For a map, Python reports a missing key itself.
        return all(owner.field(str(written.value)) for owner in owners)
    # A TypedDict accepts only literal keys.
    return not any(owner.is_declared for owner in owners)


def _item_at(value: Type, key: Type, node: n.Expression) -> Type | None:
    match value:
        case ListType():
            return value.item if fit(key, INT) != Assignability.NEVER else None
        case TupleType():
            return item_type(value) if fit(key, INT) != Assignability.NEVER else None
        case ObjectType():
            if isinstance(node, n.Literal) and isinstance(node.value, str):
                field = value.field(node.value)
                return field.type if field else None
            possible = fit(key, STRING) != Assignability.NEVER
            return union(field.type for field in value.fields) if possible else None
        case MapType():
            return value.value if fit(key, value.key) != Assignability.NEVER else None
        case _ if value == DATAFRAME:
            return ListType(ANY) if fit(key, STRING) != Assignability.NEVER else None
        case _:
            return STRING if value == STRING and fit(key, INT) != Assignability.NEVER else None


def _slice_of(value: Type) -> Type | None:
    match value:
        case ListType():
            return value
        case TupleType():
            return ANY
        case _:
            return STRING if value == STRING else None
