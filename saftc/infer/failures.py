"""The failures that a script's nodes may cause, with their reasons, based on the chosen forms.

    rows[i]             may be out of range
    teams[kind]         never fails if `kind` is one of the literals that `teams` has
    read_text(path)     may fail by accident
    check(mail)         may fail if `check` may fail; this module leaves `check` to its callers

Each failure has a cause, and callers select the causes that matter: the schedule of a script
accepts the risk of accidents, but code that moves an expression does not. Overflows, values
that are too large, and numbers that are not finite are ignored. A node without a rule may fail for
unknown reasons. Failures are computed on demand: checking a script needs none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from saftc.check.facts import Facts
from saftc.check.forms import (
    IN_PARTS,
    Attribute,
    BuiltinCall,
    ChangedCopy,
    DirectCall,
    Form,
    ResultAttribute,
    unpacks,
)
from saftc.syntax import nodes as n
from saftc.syntax.constructs import construct_of
from saftc.syntax.walk import children
from saftc.types.dates import is_read
from saftc.types.relations import Assignability
from saftc.types.types import (
    ANY,
    DATES,
    DECIMAL,
    TIME,
    LiteralType,
    ObjectType,
    RecordType,
    Scalar,
    TupleType,
    Type,
    is_only,
    may_be,
    members,
    show,
)


class Cause(Enum):
    """The cause of a failure."""

    # A value of the wrong type, out of range, or against a rule.
    VALUE = auto()
    # A file, the environment, a model.
    ACCIDENT = auto()
    # A name that may have no value yet.
    UNSET = auto()
    # A call of Python code.
    PYTHON = auto()
    # A call of a script's function, which has its own failures.
    CALL = auto()
    # Unknown; the node may not even terminate.
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Failure:
    """A node that may fail, and why.

    `function`: the script's function that the node calls, if any.
    """

    node: n.Node
    words: str
    cause: Cause = Cause.VALUE
    function: n.FunctionDef | None = None


_ORDERING = ("<", "<=", ">", ">=")
# Nodes whose own failures are listed before those of their parts.
_FIRST = (n.AssertStmt, n.FailStmt, n.ForStmt)

_Keys = Sequence[str | int]
_Failures = Iterator[Failure]


def failures_in(facts: Facts, node: n.Node) -> _Failures:
    """The possible failures of evaluating an expression, or of a statement without its blocks.

    The failures are in the order of evaluation, except that an `assert`, `fail` or `for` comes
    before the expressions in it.
    """
    coercion = facts.coercions.get(node)
    if coercion is not None and coercion.fit == Assignability.CHECK:
        assert isinstance(node, n.Expression)
        words = f"may be something other than {show(coercion.wanted)}"
        yield Failure(node, may_be_wrong(facts, node, words))
    own = failures_of(facts, node)
    if isinstance(node, _FIRST):
        yield from own
    for part in parts_of(node):
        yield from failures_in(facts, part)
    yield from own


def never_fails(facts: Facts, node: n.Expression) -> bool:
    """Whether evaluating an expression certainly succeeds."""
    return next(failures_in(facts, node), None) is None


def failures_of(facts: Facts, node: n.Node) -> _Failures:
    """The possible failures of a node itself, if its parts have been evaluated without failure."""
    return _FailureFinder(facts).itself(node)


def parts_of(node: n.Node) -> Sequence[n.Node]:
    """The nodes inside a node that are evaluated to get its value, in order."""
    match node:
        case n.Call(function=n.Name(), arguments=arguments):
            return arguments  # the failures of a function called by name are the call's own
        case n.Call(function=n.Member(value=value), arguments=arguments):
            return (value, *arguments)
        case n.Comprehension(item=item, clauses=clauses):
            return (*clauses, item)
        case n.FunctionDef() | n.RecordDef():
            return node.defaults
        case n.IfStmt(branches=branches):
            return [branch.condition for branch in branches]
        case n.ImportStmt() | n.FromImport() | n.ServerImport() | n.TypeAlias():
            return ()
        case _:
            return [one for one in children(node) if not isinstance(one, n.Statement | n.Schema)]


class _FailureFinder:
    """Finds the failures of a node itself by the kind of the node.

    The failures of the node's parts are not included.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def itself(self, node: n.Node) -> _Failures:
        forms = self.facts.forms
        match node:
            case n.Name():
                symbol = self.facts.names.of(node)
                if symbol in self.facts.names.unset or symbol.starts_late:
                    yield Failure(node, f"`{node.text}` may have no value", Cause.UNSET)
            case n.Prompt():
                yield Failure(node, "a prompt may get no answer", Cause.ACCIDENT)
            case n.ServerCall():
                words = f"`{node.tool}` of an MCP server may fail"
                yield Failure(node, words, Cause.ACCIDENT)
            case n.Call():
                yield from self._call(node)
            case n.Index():
                is_native = forms.items[node] == Form.NATIVE
                yield from self._part(node, self._keys(node) if is_native else [], "such an item")
            case n.Slice():
                if forms.items[node] != Form.NATIVE or node.step is not None:
                    yield from self._part(node, [], "such a part")
            case n.TupleMember(position=position):
                is_native = forms.items[node] == Form.NATIVE
                yield from self._part(node, [position] if is_native else [], "such a part")
            case n.Member():
                yield from self._member(node)
            case n.Unary():
                if node.operator == "-" and forms.operators[node] == Form.OPS:
                    yield self._wrong_operand(node, node.operand)
            case n.Comparison():
                if forms.operators[node] == Form.OPS:
                    yield self._wrong_operand(node, node.left, node.right)
                elif node.operator in _ORDERING and may_be(self.facts.type_of(node.left), TIME):
                    yield Failure(node, "of two times, one may have an offset")
            case n.Binary():
                yield from self._binary(node)
            case n.ForStmt() | n.ComprehensionClause():
                yield from self._items(node)
            case n.FormatHole():
                if node.spec is not None and forms.holes[node] != Form.NATIVE:
                    words = f"may not take the format `{node.spec}`"
                    yield Failure(node, may_be_wrong(self.facts, node.value, words))
            case n.ObjectLiteral():
                if node in forms.copies:
                    yield from self._copied(node, forms.copies[node])
            case n.Spread():
                if forms.spreads[node] == Form.OPS:
                    words = "may not be a value that can be spread here"
                    yield Failure(node, may_be_wrong(self.facts, node.value, words))
            case n.ComputedField():
                if forms.keys[node.key] == Form.OPS:
                    words = "may not be a string, as a key must be"
                    yield Failure(node.key, may_be_wrong(self.facts, node.key, words))
            case n.UnpackStmt():
                if not unpacks(node.pattern, self.facts.type_of(node.value)):
                    words = may_be_wrong(self.facts, node.value, "may have another number of parts")
                    yield Failure(node, words)
            case n.AssertStmt():
                yield Failure(node, "`assert` may stop the script")
            case n.FailStmt():
                yield Failure(node, "`fail` may stop the script")
            case n.ImportStmt() | n.FromImport():
                yield Failure(node, "an import may fail")
            case _:
                if construct_of(node).fails != "never":
                    yield Failure(node, "its effects are not known", Cause.UNKNOWN)

    # Loops

    def _items(self, node: n.ForStmt | n.ComprehensionClause) -> _Failures:
        form = self.facts.forms.loops[node]
        if form == Form.EACH_OF:
            words = may_be_wrong(self.facts, node.iterable, "may not be a list of such items")
            yield Failure(node.iterable, words)
        elif form in IN_PARTS:
            if not isinstance(node.iterable, n.Prompt):
                yield Failure(node.iterable, "a prompt may get no answer", Cause.ACCIDENT)
        elif form != Form.NATIVE:
            words = may_be_wrong(self.facts, node.iterable, "may not be a list")
            yield Failure(node.iterable, words)
        if not unpacks(node.pattern, self.facts.item_of(node)):
            words = f"an item of {shown(node.iterable)} may have another number of parts"
            yield Failure(node.iterable, words)

    # Calls

    def _call(self, node: n.Call) -> _Failures:
        match self.facts.forms.calls[node]:
            case BuiltinCall() as form:
                found = self._builtin(node, form)
                if found is not None:
                    yield found
            case DirectCall(definition=n.FunctionDef() as definition):
                words = f"`{definition.name.text}` may fail"
                yield Failure(node, words, Cause.CALL, definition)
            case DirectCall(definition=n.RecordDef() as record):
                yield from self._made(node, record)
            case DirectCall():
                yield Failure(node, f"{shown(node.function)} of Python may fail", Cause.PYTHON)
            case _:
                words = f"the effects of {shown(node.function)}, called here, are not known"
                yield Failure(node, words)

    def _made(self, node: n.Call | n.ObjectLiteral, record: n.RecordDef) -> _Failures:
        known = self.facts.record_facts.get(record)
        takes_all = known is not None and known.is_plain and not known.is_checked
        if record.rules:
            yield Failure(node, f"a rule of `{record.name.text}` may not hold")
        elif (known is None or known.module is not None) and not takes_all:
            words = f"`{record.name.text}` of Python may reject its arguments"
            yield Failure(node, words, Cause.PYTHON)

    def _copied(self, node: n.ObjectLiteral, copy: ChangedCopy) -> _Failures:
        if copy.record is None:
            yield Failure(node, "the object that is spread first may lack these fields")
        else:
            yield from self._made(node, copy.record)

    def _builtin(self, node: n.Call, form: BuiltinCall) -> Failure | None:
        name = form.builtin.name
        if form.builtin.fails == "never":
            return None
        fails = Failure(node, f"`{name}` may fail")
        for argument in node.arguments if form.form == Form.OPS else ():
            if self.facts.types.get(argument.value, ANY) == ANY:
                problem = f"may not be a value that `{name}` takes"
                return Failure(node, may_be_wrong(self.facts, argument.value, problem))
        if form.form == Form.OPS or form.arguments is None:
            return fails
        if form.by is not None or form.way.python.how == "operation":
            return fails
        last = form.arguments[-1] if form.arguments else None
        is_clear = isinstance(last, n.Literal) and bool(last.value)
        types = [self.facts.type_of(one) for one in form.arguments]
        match name:
            case "div" if not is_clear:
                return Failure(node, "it may be a division by zero")
            case "split" if len(types) == 2 and not is_clear:
                return Failure(node, "the separator may be empty")
            case "range" if len(types) == 3:
                return Failure(node, "the step may be zero")
            case "div" | "split" | "round" | "range":
                return None
            case _ if name in DATES and _is_written_out(DATES[name], last):
                return None
            case _ if form.builtin.fails == "by accident":
                return Failure(node, f"`{name}` may fail", Cause.ACCIDENT)
            case _:
                return None if form.builtin.fails == "on other kinds" else fails

    # Members and items

    def _member(self, node: n.Member) -> _Failures:
        form, name = self.facts.forms.members[node], node.name.text
        enum = self.facts.enum_of(node.value)
        if (
            isinstance(form, ResultAttribute)
            or form == Form.LENGTH
            or (enum and name in enum.choices)
        ):
            return
        is_native = form == Form.ITEM or isinstance(form, Attribute)
        yield from self._part(node, [name] if is_native else [], f"a field `{name}`")

    def _part(
        self, node: n.Index | n.Slice | n.TupleMember | n.Member, keys: _Keys, part: str
    ) -> _Failures:
        """Yields the failure of reading a part of a value, if the read may fail.

        `keys` are the possible keys of the part, and empty if the keys are unknown.
        """
        owners = members(self.facts.type_of(node.value))
        if not keys or not all(self._has(owner, key) for owner in owners for key in keys):
            yield Failure(node, may_be_wrong(self.facts, node.value, f"may not have {part}"))

    def _has(self, owner: Type, key: str | int) -> bool:
        """Whether every value of type `owner` has data under `key`.

        A property of a Python object is not data, because reading it may fail.
        """
        match owner, key:
            case TupleType(items=items), int():
                return 0 <= key < len(items)
            case ObjectType(), str():
                return owner.field(key) is not None
            case RecordType(), str():
                return self.facts.is_data(owner, key)
            case _:
                return False

    def _keys(self, node: n.Index) -> _Keys:
        """The possible keys of an item, or an empty sequence if unknown."""
        if isinstance(node.key, n.Literal):
            return [node.key.value] if isinstance(node.key.value, str | int) else []
        found = members(self.facts.type_of(node.key))
        values = [one.value for one in found if isinstance(one, LiteralType)]
        keys = [one for one in values if isinstance(one, str | int)]
        return keys if len(keys) == len(found) else []

    # Operators

    def _wrong_operand(
        self, node: n.Unary | n.Comparison | n.Binary, *parts: n.Expression
    ) -> Failure:
        unknown = (one for one in parts if self.facts.types.get(one, ANY) == ANY)
        wrong = next(unknown, None)
        if wrong is None:
            return Failure(node, f"`{node.operator}` may get values of the wrong types")
        words = f"may not be a value that `{node.operator}` takes"
        return Failure(node, may_be_wrong(self.facts, wrong, words))

    def _binary(self, node: n.Binary) -> _Failures:
        if self.facts.forms.operators[node] == Form.OPS:
            yield self._wrong_operand(node, node.left, node.right)
        elif node.operator in ("/", "%"):
            divisor = node.right.value if isinstance(node.right, n.Literal) else None
            if not divisor:
                yield Failure(node, "it may be a division by zero")
        elif node.operator == "*" and not is_only(self.facts.type_of(node.left), "int", "float"):
            yield self._wrong_operand(node, node.left, node.right)

def _is_written_out(made: Scalar, given: n.Expression | None) -> bool:
    """Whether a conversion to a date or the like gets a valid literal, so that it succeeds."""
    match given:
        case n.Literal(value=str() as text):
            return is_read(made, text)
        case n.Literal(value=int()):
            return made == DECIMAL
        case _:
            return False


# Words


def of_unknown_type(node: n.Expression) -> str:
    """Says, as a phrase for messages, that a value is of unknown type."""
    return f"{shown(node)} is of unknown type"


def may_be_wrong(facts: Facts, node: n.Expression, words: str) -> str:
    """Says, as a phrase for messages, that a value may be wrong. `words` say in which way.

    If the type of the value is unknown, the phrase mentions that.
    """
    if facts.types.get(node, ANY) == ANY:
        return f"{of_unknown_type(node)}: it {words}"
    return f"{shown(node)} {words}"


def shown(node: n.Expression) -> str:
    """A phrase that names a value in messages: "`mail.name`", or a description."""
    path = path_of(node)
    if path is not None:
        return f"`{path}`"
    match node:
        case n.Prompt():
            return "the answer"
        case n.Call(function=function) if path_of(function) is not None:
            return f"the result of `{path_of(function)}`"
        case n.Binary() | n.Unary() | n.Comparison() | n.Logical():
            return f"the result of `{node.operator}`"
        case n.Comprehension(item=n.ComputedField()):
            return "the object"
        case n.ListLiteral() | n.Comprehension():
            return "the list"
        case n.FormattedString():
            return "the text"
        case _:
            return "a value"


def path_of(node: n.Expression) -> str | None:
    """The text of a name, of a path such as `mail.name`, or of a literal. Otherwise None."""
    match node:
        case n.Name():
            return node.text
        case n.Literal(value=int() | str() as value):
            return f'"{value}"' if isinstance(value, str) else str(value)
        case n.Member():
            owner, part = path_of(node.value), f".{node.name.text}"
        case n.TupleMember():
            owner, part = path_of(node.value), f".{node.position}"
        case n.Index():
            key = path_of(node.key)
            owner, part = None if key is None else path_of(node.value), f"[{key}]"
        case _:
            return None
    return None if owner is None else owner + part
