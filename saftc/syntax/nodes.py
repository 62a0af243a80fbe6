"""The abstract syntax tree of Saft.

Nodes are immutable, which type checkers enforce. They compare by identity (so that other modules
can store facts about them in tables) and have a `span`. A node is named after its grammar rule:
`for_stmt` is `ForStmt`. The unions at the end list the classes that a `match` must handle.
"""

from dataclasses import dataclass, field, fields
from typing import Literal as OneOf
from typing import TypeVar, dataclass_transform

from saftc.source import Span
from saftc.syntax.tokens import Comment

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def _node(class_: type[_T]) -> type[_T]:
    """Makes a class a dataclass with slots, which type checkers treat as frozen.

    No comparison and no `repr` is generated, because generating them would dominate the time that
    `saftc check` takes to load.
    """
    return dataclass(slots=True, eq=False, repr=False)(class_)


@_node
class Node:
    """A node of the syntax tree."""

    span: Span

    def __repr__(self) -> str:
        parts = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self))
        return f"{type(self).__name__}({', '.join(parts)})"


@_node
class Identifier(Node):
    """A name at its definition, or the name of a member, field or argument."""

    text: str


# Expressions


@_node
class Name(Node):
    """A name whose value is read."""

    text: str


@_node
class Literal(Node):
    """A number, string, bool or nil. `value` is the Python value."""

    value: int | float | str | bool | None


@_node
class Spread(Node):
    """`...value`: inserts items of a list or tuple into a list, or fields into an object."""

    value: "Expression"


@_node
class ListLiteral(Node):
    """A list, `[a, b]`. `is_spread` is true if a trailing comma asks for one item per line."""

    items: "tuple[Expression | Spread, ...]"
    is_spread: bool


@_node
class TupleLiteral(Node):
    """A tuple, `(a, b)`."""

    items: "tuple[Expression, ...]"
    is_spread: bool


@_node
class Field(Node):
    """`key: value` of an object literal."""

    key: Identifier
    value: "Expression"


@_node
class ComputedField(Node):
    """`[key]: value` of an object literal."""

    key: "Expression"
    value: "Expression"


@_node
class ObjectLiteral(Node):
    """An object, `{a: 1}`. If a key occurs several times, its last value counts."""

    fields: "tuple[Entry, ...]"
    is_spread: bool

    @property
    def named(self) -> "tuple[Field, ...]":
        """The fields whose keys are names or strings, as in `a: 1`."""
        return tuple(entry for entry in self.fields if isinstance(entry, Field))


@_node
class Argument(Node):
    """An argument of a call; `name` is None for a positional argument."""

    name: Identifier | None
    value: "Expression"


@_node
class Call(Node):
    """A call, `function(a, b: c)`."""

    function: "Expression"
    arguments: tuple[Argument, ...]
    is_spread: bool


@_node
class Index(Node):
    """A lookup, `value[key]`."""

    value: "Expression"
    key: "Expression"


@_node
class Slice(Node):
    """A slice, `value[start:stop:step]`. `start`, `stop` and `step` are None if left out."""

    value: "Expression"
    start: "Expression | None"
    stop: "Expression | None"
    step: "Expression | None"


@_node
class Member(Node):
    """`value.name`."""

    value: "Expression"
    name: Identifier


@_node
class TupleMember(Node):
    """`value.0`."""

    value: "Expression"
    position: int


@_node
class Unary(Node):
    """`-x`, `not x`."""

    operator: OneOf["-", "not"]
    operand: "Expression"


@_node
class Binary(Node):
    """Arithmetic: `left operator right`."""

    operator: OneOf["+", "-", "*", "/", "%"]
    left: "Expression"
    right: "Expression"


@_node
class Comparison(Node):
    """A comparison, `left operator right`, whose value is a bool."""

    operator: OneOf["==", "!=", "<", "<=", ">", ">=", "in", "not in"]
    left: "Expression"
    right: "Expression"


@_node
class Logical(Node):
    """`left and right`, `left or right`."""

    operator: OneOf["and", "or"]
    left: "Expression"
    right: "Expression"


@_node
class Conditional(Node):
    """`then if condition else other`."""

    condition: "Expression"
    then: "Expression"
    other: "Expression"


@_node
class ComprehensionClause(Node):
    """`for pattern in iterable if condition ...`."""

    pattern: "Pattern"
    iterable: "Expression"
    conditions: "tuple[Expression, ...]"


@_node
class Comprehension(Node):
    """A comprehension, `[item for x in xs if c]`.

    In `{[key]: value for x in xs if c}`, the `item` is the entry `[key]: value`.
    """

    item: "Expression | ComputedField"
    clauses: tuple[ComprehensionClause, ...]


@_node
class FormatText(Node):
    """A piece of a formatted string's text, with escapes and doubled braces resolved."""

    text: str


@_node
class FormatHole(Node):
    """`{value}` or `{value:spec}` in a formatted string."""

    value: "Expression"
    spec: str | None


@_node
class FormattedString(Node):
    """A formatted string, `f"{name} has {count:,}"`."""

    parts: tuple[FormatText | FormatHole, ...]


@_node
class PromptText(Node):
    """A piece of a prompt's text, with escapes resolved and the common indentation removed."""

    text: str


@_node
class Hole(Node):
    """`{expression}`, `{expression:raw}` or `{function:approve}` in a prompt."""

    value: "Expression"
    is_raw: bool
    is_approved: bool


@_node
class Prompt(Node):
    """A prompt, `$ ... $`.

    `stream`, `do` or `program` may precede the prompt. Options and `after` may follow it. `after`
    is the result whose conversation the prompt continues.
    """

    is_streamed: bool
    mode: OneOf["plain", "do", "program"]
    parts: tuple[PromptText | Hole, ...]
    options: "Name | ObjectLiteral | None"
    after: "Expression | None"

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The holes in the prompt's text, in order."""
        return tuple(part for part in self.parts if isinstance(part, Hole))

    @property
    def tools(self) -> "Expression | None":
        """The value of the option `tools`, if the options are an object literal."""
        written = self.options.named if isinstance(self.options, ObjectLiteral) else ()
        return next((one.value for one in reversed(written) if one.key.text == "tools"), None)

    @property
    def options_set(self) -> "tuple[Expression, ...]":
        """The values of the options without `tools`, and the keys that are computed.

        If the options are a variable, the variable is returned.
        """
        if not isinstance(self.options, ObjectLiteral):
            return () if self.options is None else (self.options,)
        keys = [one.key for one in self.options.fields if isinstance(one, ComputedField)]
        values = [one.value for one in self.options.fields if one.value is not self.tools]
        return (*keys, *values)

    @property
    def shown(self) -> "tuple[Expression, ...]":
        """The values that the model sees: in holes, and as items of a list literal in `tools`."""
        listed = self.tools.items if isinstance(self.tools, ListLiteral) else ()
        items = (one.value if isinstance(one, Spread) else one for one in listed)
        return (*(hole.value for hole in self.holes), *items)


@_node
class ServerCall(Node):
    """The body of a function for a tool of an MCP server: a call of the tool.

    The arguments have the names that the server uses. `titles` maps object types to the names that
    the server gives them.
    """

    server: str
    tool: str
    arguments: tuple[Argument, ...]
    titles: "dict[Schema, str]"


# Schemas


@_node
class NamedSchema(Node):
    """A type given by its name: `int`, `Order`, or `shop.Order` from an imported module."""

    text: str


@_node
class LiteralSchema(Node):
    """A literal used as a type: `"low"`, `3` or `true`."""

    value: int | float | str | bool | None


@_node
class ListSchema(Node):
    """The type of a list, `[T]`."""

    item: "Schema"


@_node
class TupleSchema(Node):
    """The type of a tuple, `(A, B)`."""

    items: "tuple[Schema, ...]"


@_node
class FunctionSchema(Node):
    """The type of a function, `(A, B) -> C`."""

    parameters: "tuple[Schema, ...]"
    result: "Schema"


@_node
class SchemaField(Node):
    """`name: T` of an object schema."""

    name: Identifier
    schema: "Schema"


@_node
class ObjectSchema(Node):
    """The type of an object, `{id: int}`."""

    fields: tuple[SchemaField, ...]


@_node
class MapSchema(Node):
    """The type of an object with computed keys, `{[string]: T}`."""

    key: "Schema"
    value: "Schema"


@_node
class UnionSchema(Node):
    """The type of values that have one of several types, `A | B`."""

    members: "tuple[Schema, ...]"


@_node
class OptionalSchema(Node):
    """The type of a value that may be nil, `T?`."""

    schema: "Schema"


# Patterns


@_node
class NamePattern(Node):
    """A name to which a loop or an unpacking assigns."""

    name: Identifier


@_node
class TuplePattern(Node):
    """A pattern with several names, `a, b`."""

    items: "tuple[Pattern, ...]"


# Statements


@_node
class Parameter(Node):
    """A parameter of a function, or a field of a record."""

    name: Identifier
    schema: "Schema | None"
    default: "Expression | None"


def _defaults(parameters: tuple[Parameter, ...]) -> "tuple[Expression, ...]":
    return tuple(one.default for one in parameters if one.default is not None)


@_node
class FunctionDef(Node):
    """A function, `f name(parameters) -> schema:`. `is_conversion` is true for `conv`."""

    name: Identifier
    parameters: tuple[Parameter, ...]
    returns: "Schema | None"
    body: "tuple[Statement, ...]"
    is_conversion: bool

    @property
    def defaults(self) -> "tuple[Expression, ...]":
        """The default values of the parameters, which are evaluated at the definition."""
        return _defaults(self.parameters)


@_node
class AssignStmt(Node):
    """`name = value`, `name: schema = value`."""

    name: Identifier
    schema: "Schema | None"
    value: "Expression"


@_node
class AugmentedAssignStmt(Node):
    """`name += expression`. The `value` is the expression `name + expression`."""

    name: Identifier
    value: Binary


@_node
class UnpackStmt(Node):
    """`a, b = value`."""

    pattern: TuplePattern
    value: "Expression"


@_node
class PatternField(Node):
    """`name: schema` of a destructuring."""

    name: Identifier
    schema: "Schema"


@_node
class DestructureStmt(Node):
    """`{name: string, age: int} = $...$`."""

    fields: tuple[PatternField, ...]
    value: "Expression"


@_node
class Branch(Node):
    """The condition and the block of an `if` or `elif`."""

    condition: "Expression"
    body: "tuple[Statement, ...]"


@_node
class IfStmt(Node):
    """An `if` with its `elif` branches. `other` is the block of the `else`, or empty."""

    branches: tuple[Branch, ...]
    other: "tuple[Statement, ...]"


@_node
class ForStmt(Node):
    """A loop, `for pattern in iterable:`. A loop over drafts is `for name: schema in iterable:`."""

    pattern: "Pattern"
    schema: "Schema | None"
    iterable: "Expression"
    body: "tuple[Statement, ...]"


@_node
class WhileStmt(Node):
    """`while condition:`."""

    condition: "Expression"
    body: "tuple[Statement, ...]"


@_node
class TryStmt(Node):
    """`try:` with its `except error:`. The `error` is None if the `except` has no name."""

    body: "tuple[Statement, ...]"
    error: Identifier | None
    handler: "tuple[Statement, ...]"


@_node
class BreakStmt(Node):
    """`break`."""


@_node
class ContinueStmt(Node):
    """`continue`."""


@_node
class RetStmt(Node):
    """`ret value`, `ret`."""

    value: "Expression | None"


@_node
class AssertStmt(Node):
    """`assert condition, message`."""

    condition: "Expression"
    message: "Expression | None"

    @property
    def always_fails(self) -> bool:
        """True for `assert false` and `assert nil`, which always stop the script."""
        return isinstance(self.condition, Literal) and self.condition.value in (False, None)


@_node
class FailStmt(Node):
    """`fail value`."""

    value: "Expression"


@_node
class TypeAlias(Node):
    """`type Name = schema`."""

    name: Identifier
    schema: "Schema"


@_node
class RecordDef(Node):
    """A record type, `type Name(fields)`. `rules` are the assertions in its block."""

    name: Identifier
    fields: tuple[Parameter, ...]
    rules: tuple[AssertStmt, ...] = ()

    @property
    def defaults(self) -> "tuple[Expression, ...]":
        """The default values of the fields, which are evaluated at the definition."""
        return _defaults(self.fields)

    @property
    def optional(self) -> "tuple[Parameter, ...]":
        """The fields with an optional type and no default. They are nil if a call omits them."""
        return tuple(
            field
            for field in self.fields
            if field.default is None and isinstance(field.schema, OptionalSchema)
        )

    @property
    def nil_by_default(self) -> "tuple[Parameter, ...]":
        """The optional fields after the last required field.

        In Python, only these fields can have a default.
        """
        optional = self.optional
        last = max(
            (
                at
                for at, field in enumerate(self.fields)
                if field.default is None and field not in optional
            ),
            default=-1,
        )
        return tuple(field for field in self.fields[last + 1 :] if field in optional)


@_node
class ImportStmt(Node):
    """`import module as alias`. The text of `module` includes its dots."""

    module: Identifier
    alias: Identifier | None


@_node
class ImportedName(Node):
    """`name as alias` of a `from` import."""

    name: Identifier
    alias: Identifier | None


@_node
class FromImport(Node):
    """`from module import names`. The text of `module` includes all dots, also leading dots."""

    module: Identifier
    names: tuple[ImportedName, ...]


@_node
class ServerImport(Node):
    """`from mcp("server") import names`.

    Once the server's lock file has been read, each known tool is moved out of `names` and becomes a
    function in a statement below this one. Only unknown tools stay in `names`.
    """

    server: Identifier
    names: tuple[ImportedName, ...]


@_node
class ExpressionStmt(Node):
    """An expression whose value is not used."""

    value: "Expression"


@_node
class Module(Node):
    """A whole script.

    `docs` maps a function, type, field or parameter to its doc text, and `doc` is the doc text of
    the module. `doc_comments` maps each doc comment to the node that it documents, or to None for
    the module. `guessed` has the names on lines that could not be parsed, since these lines may
    define them.
    """

    statements: "tuple[Statement, ...]"
    comments: tuple[Comment, ...] = ()
    docs: "dict[Node, str]" = field(default_factory=dict["Node", str])
    doc: str = ""
    doc_comments: "dict[Comment, Node | None]" = field(default_factory=dict[Comment, "Node | None"])
    guessed: frozenset[str] = frozenset()


Expression = (
    Name
    | Literal
    | ListLiteral
    | TupleLiteral
    | ObjectLiteral
    | Call
    | Index
    | Slice
    | Member
    | TupleMember
    | Unary
    | Binary
    | Comparison
    | Logical
    | Conditional
    | Comprehension
    | FormattedString
    | Prompt
    | ServerCall
)
Schema = (
    NamedSchema
    | LiteralSchema
    | ListSchema
    | TupleSchema
    | FunctionSchema
    | ObjectSchema
    | MapSchema
    | UnionSchema
    | OptionalSchema
)
# An entry of an object literal.
Entry = Field | ComputedField | Spread
Pattern = NamePattern | TuplePattern
# Statements that contain statements; `SimpleStatement` has all others.
BlockStatement = FunctionDef | IfStmt | ForStmt | WhileStmt | TryStmt
SimpleStatement = (
    AssignStmt
    | AugmentedAssignStmt
    | UnpackStmt
    | DestructureStmt
    | BreakStmt
    | ContinueStmt
    | RetStmt
    | AssertStmt
    | FailStmt
    | TypeAlias
    | RecordDef
    | ImportStmt
    | FromImport
    | ServerImport
    | ExpressionStmt
)
Statement = BlockStatement | SimpleStatement
