"""Conditions: their possible truth values, and how they narrow the variables in them.

After `if ticket.reply_by:` the member is not nil in the branch, so `string?` is `string` there, and
the output concatenates natively. Saft's values are immutable, so a narrowed type is valid until the
variable is assigned again. Python objects are mutable, so the narrowed type of a Python object's
member is valid only until code runs that could change the member. Properties are never narrowed.
"""

from collections.abc import Callable
from functools import partial

from saftc.check.forms import KindTest, test_of, written_value
from saftc.diagnostics import catalogue
from saftc.infer.rules.context import Inference
from saftc.infer.rules.environment import Environment, target_of
from saftc.infer.tools import offered
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from saftc.types.relations import can_be_equal
from saftc.types.types import (
    ANY,
    BOOL,
    DATAFRAME,
    DATES,
    FLOAT,
    INT,
    NEVER,
    NIL,
    STRING,
    ListType,
    LiteralType,
    RecordType,
    Type,
    kind_word,
    literal_type,
    may_be,
    members,
    show,
    union,
)

# The type of a value of unknown type after `type(x) == "word"`.
_KINDS: dict[str, Type] = {
    "string": STRING,
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "nil": NIL,
    "list": ListType(ANY),
    "dataframe": DATAFRAME,
    **DATES,
}


def can_be_true(type_: Type) -> bool:
    """Whether a value of `type_` can count as true. Only `false` and `nil` do not."""
    return any(member != NIL and not _is_false(member) for member in members(type_))


def can_be_false(type_: Type) -> bool:
    """Whether a value of `type_` can count as false, as `false` and `nil` do."""
    return may_be(type_, BOOL) or may_be(type_, NIL) or type_ == NEVER


Keeps = Callable[[Type], bool]
# A callback for each operand of a condition, with its type.
Look = Callable[[Inference, n.Expression, Type], None]


def logical_value(inference: Inference, node: n.Logical, env: Environment) -> None:
    """Infers `a or b` or `a and b` where the value is used, not only tested.

    Reports an `or` with an operand that is never false: the script seems to expect one of the
    operands as the value, but the value is a bool.
    """
    operands: list[tuple[n.Expression, Type]] = []
    condition(inference, node, env, lambda _, operand, type_: operands.append((operand, type_)))
    constant = [operand for operand, type_ in operands if not can_be_false(type_)]
    if node.operator == "or" and constant:
        left = inference.facts.types.get(node.left, ANY)
        hint = f"`or` gives a bool; write `{_choice(node, left)}`"
        inference.report(catalogue.ALWAYS_TRUE.at(constant[0].span, hint=hint))
        return
    for operand, type_ in operands:
        _warn_if_constant(inference, operand, type_)


_HAS_ITEMS = "len({name}) > 0"
# Tests for non-empty values.
_NOT_EMPTY: dict[Type, str] = {
    STRING: '{name} != ""',
    INT: "{name} != 0",
    FLOAT: "{name} != 0",
}


def _choice(node: n.Logical, left: Type) -> str:
    """The Saft code for the first non-empty of two values, as `x or y` gives in Python."""
    name = node.left.text if isinstance(node.left, n.Name) else "x"
    match node.right:
        case n.Literal(value=str() as text) if len(text) < 20:
            other = f'"{text}"'
        case _:
            other = "..."
    test = _NOT_EMPTY.get(left, _HAS_ITEMS if isinstance(left, ListType) else "{name}")
    return f"{name} if {test.format(name=name)} else {other}"


def condition(
    inference: Inference, node: n.Expression, env: Environment, look: Look | None = None
) -> None:
    """Infers an expression that is a condition. Prompts in it get the type bool.

    `look` is called for each operand. By default, operands that are always true or always false are
    reported.
    """
    match node:
        case n.Logical():
            inference.keep(node, BOOL)
            condition(inference, node.left, env, look)
            inner = env.copy()
            narrow(inference, node.left, inner, truth=node.operator == "and")
            condition(inference, node.right, inner, look)
            forget_changed_inside(inference, node.right, env)
        case n.Unary(operator="not"):
            inference.keep(node, BOOL)
            condition(inference, node.operand, env, look)
        case _:
            type_ = inference.expression(node, env, BOOL if isinstance(node, n.Prompt) else None)
            inference.facts.forms.tests[node] = test_of(type_)
            (look or _warn_if_constant)(inference, node, type_)


def _warn_if_constant(inference: Inference, node: n.Expression, type_: Type) -> None:
    if not can_be_false(type_):
        hint = f"only `false` and `nil` are false; this is {show(type_)}"
        if isinstance(type_, ListType) and not isinstance(node, n.ListLiteral):
            name = node.text if isinstance(node, n.Name) else "x"
            hint += f": `len({name}) > 0` tests for items"
        inference.report(catalogue.ALWAYS_TRUE.at(node.span, hint=hint))
    elif not can_be_true(type_) and type_ != NEVER and not isinstance(node, n.Literal):
        inference.report(catalogue.ALWAYS_FALSE.at(node.span, hint=f"this is {show(type_)}"))


def narrow(inference: Inference, node: n.Expression, env: Environment, *, truth: bool) -> None:
    """Narrows types in `env`, given that the condition `node` is true or false (`truth`)."""
    match node:
        case n.Unary(operator="not"):
            narrow(inference, node.operand, env, truth=not truth)
        case n.Logical():
            # The truth of both sides is known only for a true `and` or a false `or`.
            if (node.operator == "and") == truth:
                narrow(inference, node.left, env, truth=truth)
                forget_changed_inside(inference, node.right, env)
                narrow(inference, node.right, env, truth=truth)
        case n.Comparison(operator="==" | "!="):
            _narrow_equality(inference, node, env, is_equal=(node.operator == "==") == truth)
        case _:
            keeps = can_be_true if truth else can_be_false
            _keep_members(inference, node, env, keeps)


def _narrow_equality(
    inference: Inference, node: n.Comparison, env: Environment, *, is_equal: bool
) -> None:
    form = inference.facts.forms.operators.get(node)
    if isinstance(form, KindTest):
        _narrow_kind(inference, form.tested, env, form.word, is_equal=is_equal)
        return
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(other, n.Literal) and other.value is None:
            _keep_members(inference, one, env, lambda member: (member == NIL) == is_equal)
            return
        value = written_value(other)
        if value is not None:
            if isinstance(one, n.Member):
                _narrow_owner(inference, one, env, literal_type(value), is_equal=is_equal)
            if is_equal:
                wanted = inference.facts.types.get(other, ANY)
                _keep_members(inference, one, env, partial(can_be_equal, wanted))
            return


def _narrow_owner(
    inference: Inference, node: n.Member, env: Environment, value: Type, *, is_equal: bool
) -> None:
    """Narrows a tagged union after a test of the tag, such as `shape.kind == "circle"`.

    `shape` then has the types whose `kind` can be "circle". The tag must be a field of literal
    types or nil, as in Python's type checkers.
    """
    owners = members(inference.facts.types.get(node.value, ANY))
    fields = {owner: inference.facts.field_type(owner, node.name.text) for owner in owners}

    def keeps(owner: Type) -> bool:
        field = fields[owner]
        if field is None:
            return True
        return can_be_equal(field, value) if is_equal else field != value

    is_told = all(field is None or _takes_certain_values(field) for field in fields.values())
    if is_told and any(map(keeps, owners)):
        _keep_members(inference, node.value, env, keeps)


def _takes_certain_values(type_: Type) -> bool:
    return all(isinstance(member, LiteralType) or member == NIL for member in members(type_))


def _narrow_kind(
    inference: Inference, node: n.Expression, env: Environment, word: str, *, is_equal: bool
) -> None:
    type_ = inference.facts.types.get(node, ANY)
    if type_ == ANY:
        if is_equal and word in _KINDS:
            _narrow_to(inference, node, env, _KINDS[word])
        return
    answers = {kind_word(member) == word for member in members(type_)}
    if type_ != NEVER and len(answers) == 1:
        inference.doubt()
    _keep_members(inference, node, env, lambda member: (kind_word(member) == word) == is_equal)


def _keep_members(inference: Inference, node: n.Expression, env: Environment, keeps: Keeps) -> None:
    """Narrows a variable, or a member of a variable, to the types that `keeps` accepts.

    Other expressions are not narrowed.
    """
    type_ = inference.known(node)
    if type_ not in (ANY, NEVER):
        kept = union(member for member in members(type_) if keeps(member))
        if kept != type_:
            _narrow_to(inference, node, env, kept)


def _narrow_to(inference: Inference, node: n.Expression, env: Environment, type_: Type) -> None:
    target, is_mutable = target_of(inference.facts.names, node), _is_in_python(inference, node)
    if target is None or is_mutable is None:
        return
    # Do not narrow a declared variable or a member to `NEVER`: such a test is reported.
    is_open = not target[1] and target[0] not in inference.facts.declared
    if type_ != NEVER or is_open:
        env.narrow(*target, type_, is_mutable=is_mutable)


# Python objects


def forget_changed(inference: Inference, node: n.Node, env: Environment) -> None:
    """Drops the narrowed types of Python objects' members if evaluating `node` may change them."""
    if _may_change(inference, node):
        env.forget()


def forget_changed_inside(inference: Inference, node: n.Node, env: Environment) -> None:
    """Drops the narrowed types of Python objects' members if any part of `node` may change them."""
    if inference.uses_python and any(_may_change(inference, inner) for inner in walk(node)):
        env.forget()


def _may_change(inference: Inference, node: n.Node) -> bool:
    """Whether `node` itself may run Python code or an unknown function."""
    match node:
        case n.Call(function=n.Name() as function, arguments=arguments):
            symbol = inference.facts.names.of(function)
            is_builtin = symbol.kind == "builtin" and symbol.name != "run"
            return not is_builtin or any(one.name is not None for one in arguments)
        case n.Call() | n.Prompt(mode="program"):
            return True
        case n.Prompt():
            return bool(offered(inference.facts, node))
        case n.Member():
            return inference.facts.is_method(node)
        case _:
            return False


def _is_in_python(inference: Inference, node: n.Expression) -> bool | None:
    """Whether a path leads through a Python object, not only through Saft values.

    None if it ends in or leads through a property: that may return another value at the next read.
    """
    facts, found = inference.facts, False
    while isinstance(node, n.Member):
        if facts.is_method(node):
            return None
        node = node.value
        owners = members(facts.types.get(node, ANY))
        records = (one for one in owners if isinstance(one, RecordType))
        found = found or ANY in owners or any(map(facts.is_of_python, records))
    return found


def _is_false(type_: Type) -> bool:
    return isinstance(type_, LiteralType) and type_.value is False
