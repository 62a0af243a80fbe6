"""Expressions: the type of each, and what its place has to do with its value.

A place that asks for a type hands it down into what is written there: the items of a list literal,
the branches of a conditional, a prompt. So `prices: [float] = [1, 2.5]` makes a float of the first
item, and a prompt gets its contract from the annotation.
"""

from collections.abc import Callable
from typing import assert_never

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic
from saftc.diagnostics.near import near
from saftc.semantics.calls import Calls
from saftc.semantics.conditions import Conditions
from saftc.semantics.environment import Environment
from saftc.semantics.history import MEMBER_TYPES
from saftc.semantics.operators import is_constant, negate, operate
from saftc.semantics.relations import Fit, fit
from saftc.semantics.scopes import Symbol
from saftc.semantics.tables import MEMBERS_OF_TABLE, holds_table
from saftc.semantics.types import (
    ANY,
    BOOL,
    DATAFRAME,
    FLOAT,
    INT,
    NEVER,
    NIL,
    NUMBER,
    STRING,
    BuiltinType,
    FieldType,
    FunctionType,
    ListType,
    LiteralType,
    ObjectType,
    RecordType,
    TupleType,
    Type,
    UnionType,
    base_of_value,
    item_type,
    kind_word,
    kinds,
    literal_type,
    members,
    opened,
    show,
    union,
    widened,
)
from saftc.syntax import nodes as n

_ANY_OBJECT = ObjectType((), is_declared=False)

# What to go over instead of a value that has no items.
_ITEMS_OF = {
    "object": "go over `keys(x)` or `values(x)`",
    "string": "`split(x)` gives words",
    "dataframe": "`columns(x)` gives the names of its columns",
}

# What `with` takes.
OPTIONS: dict[str, Type] = {
    "model": STRING,
    "provider": STRING,
    "base_url": STRING,
    "api_key_env": STRING,
    "temperature": NUMBER,
    "top_p": NUMBER,
    "max_tokens": INT,
    "seed": INT,
    "stop": union((STRING, ListType(STRING))),
    "system": STRING,
    "timeout": NUMBER,
    "retries": INT,
    "max_reply_bytes": INT,
    "repairs": INT,
    "max_tool_rounds": INT,
    "max_tool_calls": INT,
    "structured": STRING,
    "extra": ANY,
}


class Expressions(Conditions, Calls):
    """The part of inference that knows expressions."""

    def place(self, node: n.Expression, wanted: Type, env: Environment) -> Type:
        wanted = opened(wanted)
        return self.settle(node, self.expression(node, env, wanted), wanted)

    def settle(self, node: n.Expression, found: Type, wanted: Type) -> Type:
        value = _written_value(node)
        if value is not None and _has_literals(wanted):
            found = literal_type(value)
        how = fit(found, wanted)
        if how == Fit.NEVER:
            self.report(
                catalogue.TYPE_MISMATCH.at(
                    node.span,
                    expected=show(wanted),
                    found=show(found),
                    hint=_mismatch_hint(found, wanted),
                )
            )
            return wanted
        asked = wanted
        if how == Fit.CHECK and found != ANY:
            # What the value certainly is not need not be asked for.
            asked = union(
                place
                for place in members(wanted)
                if any(fit(one, place) != Fit.NEVER for one in members(found))
            )
        self.coerce(node, how, asked)
        return found if how == Fit.EXACT and ANY not in (found, wanted) else asked

    def expression(self, node: n.Expression, env: Environment, wanted: Type | None = None) -> Type:
        return self.keep(node, self._expression(node, env, wanted))

    def _expression(self, node: n.Expression, env: Environment, wanted: Type | None) -> Type:
        match node:
            case n.Literal():
                return base_of_value(node.value)
            case n.Name():
                return self._name(node, env)
            case n.ListLiteral():
                return self._list(node, env, wanted)
            case n.TupleLiteral():
                return self._tuple(node, env, wanted)
            case n.ObjectLiteral():
                return self._object(node, env, wanted)
            case n.Call():
                return self.call(node, env)
            case n.Index():
                return self._index(node, env)
            case n.Slice():
                return self._slice(node, env)
            case n.Member():
                return self._member(node, env)
            case n.TupleMember():
                return self._tuple_member(node, env)
            case n.Unary():
                return self._unary(node, env)
            case n.Binary():
                return self._binary(node, env)
            case n.Comparison():
                return self._comparison(node, env)
            case n.Logical():
                self.condition(node, env)
                return BOOL
            case n.Conditional():
                return self._conditional(node, env, wanted)
            case n.Comprehension():
                return self._comprehension(node, env, wanted)
            case n.Prompt():
                return self._prompt(node, env, wanted)
            case _:
                assert_never(node)

    def _name(self, node: n.Name, env: Environment) -> Type:
        symbol = self.facts.names.of(node)
        target = self.facts.meaning_of(symbol)
        if target is not symbol:
            return self._foreign(target)
        return self._meaning(symbol, env)

    def _foreign(self, target: Symbol) -> Type:
        """The type of a name of a sibling script."""
        if target.kind == "function" and isinstance(target.node, n.FunctionDef):
            return FunctionType(target.name, target.node)
        return self.facts.lasting.get(target, ANY)

    def _meaning(self, symbol: Symbol, env: Environment) -> Type:
        match symbol.kind:
            case "function":
                assert isinstance(symbol.node, n.FunctionDef)
                return FunctionType(symbol.name, symbol.node)
            case "builtin":
                return BuiltinType(symbol.name)
            case "variable" | "parameter":
                return self.read(symbol, env)
            case "record" | "type" | "import" | "guessed":
                return ANY

    # Literals

    def _list(self, node: n.ListLiteral, env: Environment, wanted: Type | None) -> Type:
        asked = _member_of_kind(wanted, ListType)
        if isinstance(asked, ListType) and asked.item != ANY:
            for item in node.items:
                self.place(item, asked.item, env)
            return asked
        return ListType(union(widened(self.expression(item, env)) for item in node.items))

    def _tuple(self, node: n.TupleLiteral, env: Environment, wanted: Type | None) -> Type:
        asked = _member_of_kind(wanted, TupleType)
        if isinstance(asked, TupleType) and len(asked.items) == len(node.items):
            for item, place in zip(node.items, asked.items, strict=True):
                self.place(item, place, env)
            return asked
        return TupleType(tuple(widened(self.expression(item, env)) for item in node.items))

    def _object(self, node: n.ObjectLiteral, env: Environment, wanted: Type | None) -> Type:
        asked = _object_meant(node, wanted)
        if asked is not None:
            return self._object_as(node, asked, env)
        fields: dict[str, FieldType] = {}
        for field in node.fields:
            type_ = widened(self.expression(field.value, env))
            fields[field.key.text] = FieldType(field.key.text, type_)
        return ObjectType(tuple(fields.values()), is_declared=False)

    def _object_as(self, node: n.ObjectLiteral, asked: ObjectType, env: Environment) -> Type:
        given = {field.key.text for field in node.fields}
        for field in node.fields:
            place = asked.field(field.key.text)
            if place is None:
                self.expression(field.value, env)
                meant = near(field.key.text, [f.name for f in asked.fields if f.name not in given])
                self.report(
                    catalogue.MISSING_FIELD.at(
                        field.key.span,
                        found=show(asked),
                        name=field.key.text,
                        hint=f"did you mean `{meant}`?" if meant else None,
                    )
                )
            else:
                self.place(field.value, place.type, env)
        for field in asked.fields:
            if field.name not in given and NIL not in members(field.type) and field.type != ANY:
                self.report(
                    catalogue.TYPE_MISMATCH.at(
                        node.span,
                        expected=show(asked),
                        found=f"an object without `{field.name}`",
                    )
                )
        return asked

    # Members and items

    def _member(self, node: n.Member, env: Environment) -> Type:
        value = self.expression(node.value, env)
        foreign = self.facts.member_of_module(node)
        if foreign is not None:
            module = self.facts.modules[self.facts.names.of(node.value)]
            self.facts.lasting.setdefault(foreign, module.facts.lasting_type(foreign))
            return self._foreign(foreign)
        place = self.path_of(node)
        if place is not None:
            slot = env.slot(place[0])
            narrowed = slot.member(place[1]) if slot is not None else None
            if narrowed is not None:
                return narrowed
        if self.facts.asks_history(node):
            is_structure = node.name.text == "value" and value == STRING
            return ANY if is_structure else MEMBER_TYPES.get(node.name.text, value)
        if value == STRING and node.name.text != "length" and self.facts.result_of(node.value):
            # The member of the structure in a reply's text.
            return ANY
        return self._of_members(
            value,
            lambda member: self._field(member, node.name.text),
            lambda: self._missing_member(node, value),
        )

    def _missing_member(self, node: n.Member, value: Type) -> Diagnostic:
        name = node.name.text
        if name in ("toolCalls", "usage"):
            return catalogue.NO_HISTORY.at(
                node.name.span, found=show(value), name=name, hint=self._history_hint(node.value)
            )
        return catalogue.MISSING_FIELD.at(
            node.name.span, found=show(value), name=name, hint=self._member_hint(value, name)
        )

    def _history_hint(self, node: n.Expression) -> str:
        """Where the history of a prompt was dropped on its way to `node`."""
        match node:
            case n.Call(function=n.Name() as function):
                definition = self.facts.names.of(function).node
                if isinstance(definition, n.FunctionDef) and definition.returns is not None:
                    return f"`{function.text}` declares a return type: it gives the plain value"
            case n.Index():
                return "an item of a list is a plain value: bind the prompt to a name"
            case n.Name():
                symbol = self.facts.names.of(node)
                if symbol.kind == "parameter":
                    return "an argument is a plain value: ask where the prompt is bound"
                if isinstance(symbol.node, n.ForStmt):
                    return "an item of a list is a plain value: bind the prompt to a name"
                if isinstance(symbol.node, n.AssignStmt) and isinstance(
                    symbol.node.value, n.Call | n.Index
                ):
                    return self._history_hint(symbol.node.value)
                return f"`{node.text}` is bound to a plain value, not (only) to a prompt"
            case _:
                pass
        return "only a name that is bound to a prompt keeps its history"

    def _field(self, value: Type, name: str) -> Type | None:
        match value:
            case ObjectType():
                field = value.field(name)
                if field is not None:
                    return field.type
                return INT if name == "length" else None
            case RecordType():
                return self.facts.fields_of(value).get(name)
            case ListType() | TupleType():
                return INT if name == "length" else None
            case _ if value == DATAFRAME:
                # Any other attribute is Python's to know.
                return MEMBERS_OF_TABLE.get(name, ANY)
            case _:
                return INT if value == STRING and name == "length" else None

    def _member_hint(self, value: Type, name: str) -> str | None:
        names: list[str] = []
        for member in members(value):
            match member:
                case ObjectType():
                    names.extend(field.name for field in member.fields)
                case RecordType():
                    names.extend(self.facts.fields_of(member))
                case _:
                    pass
        meant = near(name, names)
        if meant:
            return f"did you mean `{meant}`?"
        return f"it has {', '.join(f'`{known}`' for known in names)}" if names else None

    def _tuple_member(self, node: n.TupleMember, env: Environment) -> Type:
        value = self.expression(node.value, env)
        place = self.path_of(node)
        if place is not None:
            slot = env.slot(place[0])
            narrowed = slot.member(place[1]) if slot is not None else None
            if narrowed is not None:
                return narrowed
        return self._item_of_tuple(node, value, node.position)

    def _item_of_tuple(self, node: n.Expression, value: Type, position: int) -> Type:
        def item(member: Type) -> Type | None:
            if isinstance(member, TupleType) and -len(member.items) <= position < len(member.items):
                return member.items[position]
            return None

        def wrong() -> Diagnostic:
            if isinstance(value, TupleType):
                return catalogue.OUT_OF_RANGE.at(node.span, index=position, count=len(value.items))
            return catalogue.NOT_INDEXABLE.at(
                node.span,
                found=show(value),
                how=f" with `.{position}`",
                hint=f"`.{position}` is for tuples; write `[{position}]`",
            )

        return self._of_members(value, item, wrong)

    def _index(self, node: n.Index, env: Environment) -> Type:
        value = self.expression(node.value, env)
        key = self.expression(node.key, env)
        if value == STRING and self.facts.result_of(node.value):
            return ANY
        if isinstance(value, TupleType) and (position := constant_index(node.key)) is not None:
            return self._item_of_tuple(node, value, position)
        return self._of_members(
            value,
            lambda member: _item_at(member, key, node.key),
            lambda: self._bad_index(node, value, key),
        )

    def _bad_index(self, node: n.Index, value: Type, key: Type) -> Diagnostic:
        if isinstance(value, ObjectType) and isinstance(node.key, n.Literal) and key == STRING:
            name = str(node.key.value)
            return catalogue.MISSING_FIELD.at(
                node.key.span, found=show(value), name=name, hint=self._member_hint(value, name)
            )
        return catalogue.NOT_INDEXABLE.at(
            node.key.span,
            found=show(value),
            how=f" with {show(key)}",
            hint='`select(x, ["name"])` takes columns' if value == DATAFRAME else None,
        )

    def _slice(self, node: n.Slice, env: Environment) -> Type:
        value = self.expression(node.value, env)
        for end in (node.start, node.stop):
            if end is not None and fit(self.expression(end, env), INT) == Fit.NEVER:
                self.report(
                    catalogue.TYPE_MISMATCH.at(
                        end.span, expected="int", found=show(self.facts.types[end])
                    )
                )
        return self._of_members(
            value,
            lambda member: _slice_of(member, node),
            lambda: catalogue.NOT_INDEXABLE.at(
                node.value.span, found=show(value), how=" with a slice"
            ),
        )

    def _of_members(
        self,
        value: Type,
        result_of: Callable[[Type], Type | None],
        mistake: Callable[[], Diagnostic],
    ) -> Type:
        """The union of `result_of` over the members of `value`; a mistake when none has one."""
        if value in (ANY, NEVER):
            return value
        self.facts.read_shapes.update(
            member.fields
            for member in members(value)
            if isinstance(member, ObjectType) and not member.is_declared
        )
        results = [result_of(member) for member in members(value)]
        possible = [result for result in results if result is not None]
        if not possible:
            self.report(mistake())
            return ANY
        return union(possible)

    # Operators

    def adopting(self, node: n.Expression, model: Type, env: Environment) -> Type:
        """The type of an expression beside values of type `model`.

        An object literal with just the fields of a class is one of that class, and so are the
        items of a list literal.
        """
        found = self.expression(node, env)
        if isinstance(node, n.ObjectLiteral | n.ListLiteral) and _is_like(found, model):
            return self.expression(node, env, model)
        return found

    def _unary(self, node: n.Unary, env: Environment) -> Type:
        if node.operator == "not":
            self.condition(node, env)
            return BOOL
        operand = self.expression(node.operand, env)
        operation = negate(operand)
        if operation.result is None:
            self.report(catalogue.OPERAND.at(node.span, operator="-", found=show(operand)))
            return ANY
        return operation.result

    def _binary(self, node: n.Binary, env: Environment) -> Type:
        left = self.expression(node.left, env)
        right = self.adopting(node.right, left, env)
        if node.operator in ("/", "%") and _is_zero(node.right):
            self.report(catalogue.DIVISION_BY_ZERO.at(node.right.span))
        operation = operate(node.operator, left, right)
        if operation.result is None:
            self._wrong_operands(node, node.operator, left, right)
            return ANY
        return operation.result

    def _comparison(self, node: n.Comparison, env: Environment) -> Type:
        left = self.expression(node.left, env)
        right = self.expression(node.right, env)
        if operate(node.operator, left, right).result is None:
            self._wrong_operands(node, node.operator, left, right)
        elif is_constant(node.operator, left, right):
            code = catalogue.ALWAYS_FALSE if node.operator == "==" else catalogue.ALWAYS_TRUE
            self.report(code.at(node.span, hint=f"{show(left)} is never equal to {show(right)}"))
        return BOOL

    def _wrong_operands(
        self, node: n.Binary | n.Comparison, operator: str, left: Type, right: Type
    ) -> None:
        self.report(
            catalogue.OPERAND.at(
                node.span,
                operator=operator,
                found=f"{show(left)} and {show(right)}",
                hint=_operand_hint(operator, left, right),
            )
        )

    def _conditional(self, node: n.Conditional, env: Environment, wanted: Type | None) -> Type:
        self.condition(node.condition, env)
        then, other = Environment(env), Environment(env)
        self.narrow(node.condition, then, truth=True)
        self.narrow(node.condition, other, truth=False)
        if wanted is not None and wanted != ANY:
            first = self.place(node.then, wanted, then)
            second = self.place(node.other, wanted, other)
        else:
            first = self.expression(node.then, then, wanted)
            second = self.expression(node.other, other, wanted)
        return union((first, second))

    def _comprehension(self, node: n.Comprehension, env: Environment, wanted: Type | None) -> Type:
        inner = Environment(env)
        for clause in node.clauses:
            iterable = self.expression(clause.iterable, inner)
            self.bind(clause.pattern, self.iterated(clause.iterable, iterable), inner)
            for condition in clause.conditions:
                self.condition(condition, inner)
                self.narrow(condition, inner, truth=True)
        asked = _member_of_kind(wanted, ListType)
        if isinstance(asked, ListType) and asked.item != ANY:
            self.place(node.item, asked.item, inner)
            return asked
        return ListType(widened(self.expression(node.item, inner)))

    def iterated(self, node: n.Expression, iterable: Type) -> Type:
        """What going over `iterable` gives; a mistake when it is no list or tuple."""
        found = kinds(iterable)
        if iterable == STRING and self.facts.result_of(node):
            self.report(catalogue.RESULT_NOT_ITERABLE.at(node.span))
            return ANY
        if found is not None and found and not found & {"list", "tuple"}:
            words = [kind_word(member) or "" for member in members(iterable)]
            hint = next((_ITEMS_OF[word] for word in words if word in _ITEMS_OF), None)
            self.report(catalogue.NOT_ITERABLE.at(node.span, found=show(iterable), hint=hint))
            return ANY
        return item_type(iterable)

    # Prompts

    def _prompt(self, node: n.Prompt, env: Environment, wanted: Type | None) -> Type:
        for part in node.parts:
            if isinstance(part, n.Hole):
                type_ = self.expression(part.value, env)
                if part.is_raw and fit(type_, STRING) == Fit.NEVER:
                    self.report(
                        catalogue.RAW_NEEDS_STRING.at(
                            part.value.span,
                            found=show(type_),
                            hint="leave `:raw` out: other values go in as JSON",
                        )
                    )
        if node.options is not None:
            self._options(node.options, self.expression(node.options, env))
        asked = STRING if wanted is None else wanted
        if node.mode != "program":
            self.asked_of_model(node, asked)
            self._tools_without_tables(node)
        self._tool_names(node)
        self.facts.prompts[node] = asked
        return asked

    def asked_of_model(self, node: n.Node, wanted: Type) -> None:
        """A model cannot give everything."""
        if holds_table(wanted):
            self.report(
                catalogue.TYPE_MISMATCH.at(
                    node.span,
                    expected=show(wanted),
                    found="a prompt",
                    hint="JSON has no dataframes; `program $ ... $` can give one",
                )
            )

    def _tools_without_tables(self, node: n.Prompt) -> None:
        for part in node.parts:
            if isinstance(part, n.Hole):
                function = self.facts.types.get(part.value)
                if isinstance(function, FunctionType):
                    self._tool_without_tables(part.value, function)

    def _tool_without_tables(self, node: n.Expression, function: FunctionType) -> None:
        definition = function.definition
        types = self.facts.functions[definition].parameters
        for parameter, type_ in zip(definition.parameters, types, strict=True):
            if holds_table(type_):
                self.report(
                    catalogue.TYPE_MISMATCH.at(
                        node.span,
                        expected="a tool",
                        found=show(function),
                        hint=f"JSON has no dataframe for `{parameter.name.text}`; "
                        "in `program $ ... $` a call can give it",
                    )
                )

    def _tool_names(self, node: n.Prompt) -> None:
        """Functions that are no names are the tools `tool_1`, `tool_2`, ...: a name may be one."""
        values = [part.value for part in node.parts if isinstance(part, n.Hole)]
        functions = [
            value
            for value in values
            if isinstance(self.facts.types.get(value), FunctionType | BuiltinType)
        ]
        unnamed = sum(not isinstance(value, n.Name) for value in functions)
        numbered = {f"tool_{number}" for number in range(1, unnamed + 1)}
        for value in functions:
            if isinstance(value, n.Name) and value.text in numbered:
                self.report(catalogue.TOOL_NAME_TWICE.at(value.span, name=value.text))

    def _options(self, node: n.Name | n.ObjectLiteral, type_: Type) -> None:
        """The options of a prompt, as far as they are known."""
        if not isinstance(type_, ObjectType):
            if fit(type_, _ANY_OBJECT) == Fit.NEVER:
                self.report(
                    catalogue.TYPE_MISMATCH.at(
                        node.span, expected="an object of options", found=show(type_)
                    )
                )
            return
        written = {f.key.text: f for f in node.fields} if isinstance(node, n.ObjectLiteral) else {}
        for field in type_.fields:
            key = written.get(field.name)
            if field.name not in OPTIONS:
                meant = near(field.name, OPTIONS)
                self.report(
                    catalogue.UNKNOWN_OPTION.at(
                        key.key.span if key else node.span,
                        name=field.name,
                        hint=f"did you mean `{meant}`?" if meant else None,
                    )
                )
            elif fit(field.type, OPTIONS[field.name]) == Fit.NEVER:
                self.report(
                    catalogue.TYPE_MISMATCH.at(
                        key.value.span if key else node.span,
                        expected=show(OPTIONS[field.name]),
                        found=show(field.type),
                    )
                )


def constant_index(node: n.Expression) -> int | None:
    """The value of an index that is written as a number."""
    match node:
        case n.Literal(value=bool()):
            return None
        case n.Literal(value=int() as value):
            return value
        case n.Unary(operator="-", operand=n.Literal(value=int() as value)):
            return None if isinstance(value, bool) else -value
        case _:
            return None


def _item_at(value: Type, key: Type, node: n.Expression) -> Type | None:
    match value:
        case ListType():
            return value.item if fit(key, INT) != Fit.NEVER else None
        case TupleType():
            return item_type(value) if fit(key, INT) != Fit.NEVER else None
        case ObjectType():
            if isinstance(node, n.Literal) and isinstance(node.value, str):
                field = value.field(node.value)
                return field.type if field else None
            possible = fit(key, STRING) != Fit.NEVER
            return union(field.type for field in value.fields) if possible else None
        case _:
            return STRING if value == STRING and fit(key, INT) != Fit.NEVER else None


def _slice_of(value: Type, node: n.Slice) -> Type | None:
    match value:
        case ListType():
            return value
        case TupleType():
            start = constant_index(node.start) if node.start is not None else None
            stop = constant_index(node.stop) if node.stop is not None else None
            is_constant = (node.start is None or start is not None) and (
                node.stop is None or stop is not None
            )
            return TupleType(value.items[start:stop]) if is_constant else ANY
        case _:
            return STRING if value == STRING else None


def _member_of_kind(wanted: Type | None, kind: type[Type]) -> Type | None:
    """The member of what a place asks for that a literal of `kind` is meant for."""
    if wanted is None:
        return None
    meant = [member for member in members(wanted) if isinstance(member, kind)]
    # Of several, the check at run time picks the right one.
    return meant[0] if len(meant) == 1 else None


def _object_meant(node: n.ObjectLiteral, wanted: Type | None) -> ObjectType | None:
    """The object type of a place that an object literal is meant for: by its fields, if several."""
    if wanted is None:
        return None
    meant = [member for member in members(wanted) if isinstance(member, ObjectType)]
    if len(meant) == 1:
        return meant[0]
    given = {field.key.text for field in node.fields}
    fitting = [
        member
        for member in meant
        if given <= {field.name for field in member.fields}
        and all(f.name in given or NIL in members(f.type) for f in member.fields)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _is_like(found: Type, model: Type) -> bool:
    """Whether a literal of type `found` needs nothing but the name of the class in `model`."""
    match found, model:
        case (ListType(), ListType()):
            return _is_like(found.item, model.item)
        case (ObjectType(is_declared=False), ObjectType(is_declared=True)):
            return len(found.fields) == len(model.fields) and all(
                (place := model.field(field.name)) is not None
                and fit(field.type, place.type) == Fit.EXACT
                for field in found.fields
            )
        case _:
            return False


def _written_value(node: n.Expression) -> int | float | str | bool | None:
    """The value of a literal, a negative number included."""
    match node:
        case n.Literal():
            return node.value
        case n.Unary(operator="-", operand=n.Literal(value=int() | float() as value)):
            return None if isinstance(value, bool) else -value
        case _:
            return None


def _has_literals(wanted: Type) -> bool:
    return any(isinstance(member, LiteralType) for member in members(wanted))


def _is_zero(node: n.Expression) -> bool:
    return isinstance(node, n.Literal) and type(node.value) in (int, float) and node.value == 0


def _operand_hint(operator: str, left: Type, right: Type) -> str | None:
    if operator == "+" and STRING in (left, right):
        return "`str(x)` makes a text of any value"
    if operator == "*" and STRING in (left, right):
        return "`*` takes numbers only"
    if BOOL in (left, right) and operator not in ("in", "not in"):
        return "a bool is not a number"
    if operator in ("in", "not in") and isinstance(right, ObjectType):
        return "the keys of an object are strings"
    return None


def _mismatch_hint(found: Type, wanted: Type) -> str | None:
    if found == STRING and wanted in (INT, FLOAT):
        return f"`{show(wanted)}(x)` reads a number from a text"
    if found == FLOAT and wanted == INT:
        return "`round(x)` or `int(x)` makes an int of it"
    if wanted == STRING and found in (INT, FLOAT, BOOL):
        return "`str(x)` makes a text of any value"
    if isinstance(found, LiteralType) and isinstance(wanted, UnionType):
        values = [m.value for m in wanted.members if isinstance(m, LiteralType)]
        meant = near(str(found.value), [str(value) for value in values])
        return f'did you mean "{meant}"?' if meant and isinstance(found.value, str) else None
    return None
