"""What a Python module declares: what its functions give, and its classes; nothing of it is run.

    def total(rows: list[int]) -> int: ...      what a call gives is an int
    @dataclass class Order: id: int             a record `Order(id: int)`
    class Row(TypedDict): id: int               a name for `{id: int}`
    class Color(Enum): RED = "red"              a type with the member `Color.RED`

Annotations are believed, as Python's type checkers believe them. What says nothing that Saft has a
type for is any value, and so is what a decorator has changed, or a name that is bound more than
once. Where Python's checkers take a float, they take an int as well, so `float` is either.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from keyword import iskeyword

from saftc.semantics.facts import RecordFacts
from saftc.semantics.imports import PythonNames
from saftc.semantics.types import (
    ANY,
    BOOL,
    INT,
    NIL,
    NUMBER,
    STRING,
    FieldType,
    ListType,
    ObjectType,
    TupleType,
    Type,
    literal_type,
    record_type,
    union,
    widened,
)
from saftc.source import Span
from saftc.syntax import nodes as n

_PLAIN: dict[str, Type] = {
    "bool": BOOL,
    "float": NUMBER,
    "int": INT,
    "list": ListType(ANY),
    "str": STRING,
}
_FORMS = ("List", "Literal", "NamedTuple", "Optional", "Tuple", "TypedDict", "Union")
_USUAL_OPTIONS = ("eq", "frozen", "order", "repr", "slots", "unsafe_hash", "weakref_slot")
# In the annotation of a field, these say more than a type.
_SPECIAL = ("ClassVar", "InitVar", "KW_ONLY", "NotRequired", "ReadOnly", "Required")
_DEFAULTS = ("default", "default_factory", "repr")
_NOWHERE = Span(0, 0)


def declarations_of(text: bytes) -> PythonNames:
    """What a module declares, as far as Saft has types for it; nothing when it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return PythonNames()
    bound = Counter(_bound(tree.body))
    reader = _Reader(bound, tree.body)
    once = [one for one in tree.body if isinstance(one, ast.ClassDef) and bound[one.name] == 1]
    reader.define(once)
    return PythonNames(reader.returns_in(tree.body, bound), reader.records, reader.aliases)


def _bound(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that a module binds, each as often as it does."""
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.alias():
                yield node.asname or node.name.split(".")[0]
            case ast.Global():
                yield from node.names
            case ast.Lambda():
                continue
            case _:
                pass
        pending += ast.iter_child_nodes(node)


class _Reader:
    """Reads annotations in a module that binds the names `bound`."""

    def __init__(self, bound: Mapping[str, int], statements: Sequence[ast.stmt]) -> None:
        self.bound = bound
        # What a name of the module is in `typing`, and the names of `typing` itself.
        self.forms: dict[str, str] = {}
        self.typing: set[str] = set()
        # What is written for `dataclass`, and for `Enum`.
        self.dataclasses: dict[str, bool] = {}
        self.enums: dict[str, bool] = {}
        self.records: dict[str, RecordFacts] = {}
        self.aliases: dict[str, Type] = {}
        for statement in statements:
            match statement:
                case ast.ImportFrom(module="typing", names=names):
                    self.forms |= {one.asname or one.name: one.name for one in names}
                case ast.ImportFrom(module="dataclasses", names=names):
                    makers = [one.asname or one.name for one in names if one.name == "dataclass"]
                    self.dataclasses |= {one: bound[one] == 1 for one in makers}
                case ast.Import(names=[ast.alias(name="dataclasses", asname=alias)]):
                    module = alias or "dataclasses"
                    self.dataclasses[f"{module}.dataclass"] = bound[module] == 1
                case ast.ImportFrom(module="enum", names=names):
                    bases = [one.asname or one.name for one in names if one.name == "Enum"]
                    self.enums |= {one: bound[one] == 1 for one in bases}
                case ast.Import(names=[ast.alias(name="enum", asname=alias)]):
                    module = alias or "enum"
                    self.enums[f"{module}.Enum"] = bound[module] == 1
                case ast.Import(names=names):
                    self.typing |= {one.asname or one.name for one in names if one.name == "typing"}
                case _:
                    pass

    def define(self, classes: Sequence[ast.ClassDef]) -> None:
        """Fills `records` and `aliases` with the classes that have fields."""
        kinds = {node.name: (node, self._kind(node)) for node in classes}
        for name, (node, kind) in kinds.items():
            if kind in ("dataclass", "Enum", "NamedTuple"):
                of_value = [_parameter("value", is_optional=False)]
                fields = of_value if kind == "Enum" else _parameters(node)
                name_of_it = n.Identifier(_NOWHERE, name)
                definition = n.RecordDef(_NOWHERE, name_of_it, tuple(fields))
                self.records[name] = RecordFacts(definition, {})
        for name, (node, kind) in kinds.items():
            if kind == "TypedDict":
                fields = [FieldType(key, type_) for key, type_ in self._fields(node).items()]
                self.aliases[name] = ObjectType(tuple(fields), is_declared=True)
        for name, record in self.records.items():
            node, kind = kinds[name]
            if kind == "Enum":
                record.choices = tuple(_script_name(one) for one, _ in _choices(node))
                types = (widened(literal_type(value)) for _, value in _choices(node))
                record.fields["value"] = union(types)
            else:
                record.fields.update(self._fields(node))
            functions = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            members: dict[str, Type] = dict.fromkeys(_bound(node.body), ANY)
            if kind == "Enum":
                members["name"] = STRING
            for one in functions:
                if [ast.unparse(decorator) for decorator in one.decorator_list] == ["property"]:
                    members[one.name] = self.type_of(one.returns)
            record.members = members
            record.methods = self.returns_in(node.body, Counter(_bound(node.body)))

    def returns_in(
        self, statements: Sequence[ast.stmt], bound: Mapping[str, int]
    ) -> Mapping[str, Type]:
        """The types of what the functions among some statements give, where they are known."""
        found = {
            node.name: self.type_of(node.returns)
            for node in statements
            if isinstance(node, ast.FunctionDef)
            and not node.decorator_list
            and bound[node.name] == 1
        }
        return {name: type_ for name, type_ in found.items() if type_ != ANY}

    def _kind(self, node: ast.ClassDef) -> str | None:
        """What makes a class one with fields; None where there is more to know of it."""
        match node:
            case ast.ClassDef(bases=[base], keywords=[], decorator_list=[]):
                if self.enums.get(ast.unparse(base)):
                    return "Enum" if _is_plain_enum(node) else None
            case _:
                pass
        is_plain = all(
            isinstance(one, ast.AnnAssign | ast.FunctionDef | ast.Pass | ast.Expr)
            for one in node.body
        )
        if not is_plain or node.keywords or not all(map(_is_plain_field, node.body)):
            return None
        match node.bases, node.decorator_list:
            case [], [ast.Name() | ast.Attribute() as maker]:
                return "dataclass" if self.dataclasses.get(ast.unparse(maker)) else None
            case [], [ast.Call(func=maker, args=[], keywords=keywords)]:
                is_usual = all(one.arg in _USUAL_OPTIONS for one in keywords)
                is_maker = self.dataclasses.get(ast.unparse(maker), False)
                return "dataclass" if is_usual and is_maker else None
            case [ast.expr() as base], []:
                name = self._form(base)
                return name if name in ("NamedTuple", "TypedDict") else None
            case _:
                return None

    def _fields(self, node: ast.ClassDef) -> dict[str, Type]:
        return {_script_name(name): self.type_of(one) for name, one, _ in _annotated(node)}

    def type_of(self, node: ast.expr | None) -> Type:
        """The type that an annotation says; `ANY` where that is unknown."""
        match node:
            case ast.Name(id=name) if name in self.records:
                return record_type(self.records[name].node)
            case ast.Name(id=name) if name in self.aliases:
                return self.aliases[name]
            case ast.Constant(value=None):
                return NIL
            case ast.Constant(value=str() as text):
                return self._quoted(text)
            case ast.Name(id=name):
                known = _PLAIN.get(name)
                return ANY if known is None or self.bound.get(name) else known
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return union((self.type_of(left), self.type_of(right)))
            case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)):
                return self._generic(value, parts)
            case ast.Subscript(value=value, slice=part):
                return self._generic(value, [part])
            case _:
                return ANY

    def _quoted(self, text: str) -> Type:
        try:
            return self.type_of(ast.parse(text.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError):
            return ANY

    def _generic(self, value: ast.expr, parts: Sequence[ast.expr]) -> Type:
        match self._form(value), parts:
            case "list" | "List", [item]:
                return ListType(self.type_of(item))
            case "tuple" | "Tuple", [*items] if not any(map(_is_ellipsis, items)):
                return TupleType(tuple(map(self.type_of, items)))
            case "Optional", [item]:
                return union((self.type_of(item), NIL))
            case "Union", [*items]:
                return union(map(self.type_of, items))
            case "Literal", [*items]:
                return union(map(_literal, items))
            case _:
                return ANY

    def _form(self, value: ast.expr) -> str | None:
        match value:
            case ast.Name(id="list" | "tuple" as name) if not self.bound.get(name):
                return name
            case ast.Name(id=name) if self.forms.get(name) in _FORMS and self.bound[name] == 1:
                return self.forms[name]
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                return name if module in self.typing and self.bound[module] == 1 else None
            case _:
                return None


def _annotated(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    for line in node.body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                yield name, annotation, value
            case _:
                pass


def _is_plain_field(line: ast.stmt) -> bool:
    """Whether a line of a class says of a field no more than its type and its default."""
    if not isinstance(line, ast.AnnAssign):
        return True
    is_special = any(word in ast.unparse(line.annotation) for word in _SPECIAL)
    match line.value:
        case ast.Call(func=ast.Name(id="field") | ast.Attribute(attr="field"), keywords=keywords):
            return not is_special and all(one.arg in _DEFAULTS for one in keywords)
        case _:
            return not is_special


def _parameters(node: ast.ClassDef) -> tuple[n.Parameter, ...]:
    """The fields as those of a record; only whether one has a default is said of that."""
    return tuple(_parameter(name, value is not None) for name, _, value in _annotated(node))


def _parameter(name: str, is_optional: bool) -> n.Parameter:
    return n.Parameter(
        _NOWHERE,
        n.Identifier(_NOWHERE, _script_name(name)),
        n.NamedSchema(_NOWHERE, "any"),
        n.Literal(_NOWHERE, None) if is_optional else None,
    )


def _choices(node: ast.ClassDef) -> Iterator[tuple[str, int | float | str | bool]]:
    """The members of an Enum whose values are written out, with these."""
    for line in node.body:
        match line:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Constant(value=bool() | int() | float() | str() as value),
            ):
                yield name, value
            case _:
                pass


def _is_plain_enum(node: ast.ClassDef) -> bool:
    """Whether all that an Enum says are members, by value, and methods."""
    names = list(_bound(node.body))
    choices = [name for name, _ in _choices(node)]
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.Pass | ast.Expr)]
    is_usual = not any(name.startswith("_") or name in ("name", "value") for name in names)
    is_complete = len(choices) + len(methods) == len(node.body)
    return bool(choices) and is_complete and is_usual and len(set(names)) == len(names)


def _script_name(name: str) -> str:
    """The name of a field in scripts, which know no keywords of Python."""
    return name[:-1] if name.endswith("_") and iskeyword(name[:-1]) else name


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _literal(node: ast.expr) -> Type:
    match node:
        case ast.Constant(value=None | bool() | int() | str() as value):
            return literal_type(value)
        case _:
            return ANY
