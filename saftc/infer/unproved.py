"""Reports checks at run time, grouped by the untyped name whose annotation would avoid them.

    f describe(person):
        ret person.name + ", " + str(person.age + 1)

The members of `person` and a `+` are checked at run time. With the annotation
`person: {name: string, age: int | float}`, they would be checked at compile time. The proposed type
follows from the uses of the name.
"""

from dataclasses import dataclass, field

from saftc.check.facts import Facts
from saftc.check.forms import BuiltinCall, Form, Test
from saftc.check.names import Symbol
from saftc.check.statements import bound_by
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic, Related
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.builtins import TEXT
from saftc.types.types import ANY, NUMBER, STRING, Type, is_only, show

_SHOWN = 8


@dataclass(slots=True)
class _Requirements:
    """The requirements on a value: on its fields, on its items, or on its type."""

    fields: "dict[str, _Requirements]" = field(default_factory=dict[str, "_Requirements"])
    item: "_Requirements | None" = None
    asked: Type = ANY

    def notation(self) -> str:
        """A schema that meets the requirements."""
        if self.fields:
            shown = (f"{name}: {need.notation()}" for name, need in self.fields.items())
            return "{" + ", ".join(shown) + "}"
        return show(self.asked) if self.item is None else f"[{self.item.notation()}]"


@dataclass(slots=True)
class _UntypedName:
    """The binding of an untyped name, the requirements on it, and the places that need its type."""

    span: Span
    need: _Requirements = field(default_factory=_Requirements)
    places: dict[Span, None] = field(default_factory=dict[Span, None])


def run_time_checks(module: n.Module, facts: Facts) -> tuple[Diagnostic, ...]:
    """A hint for each untyped name that makes checks at run time necessary, in source order."""
    finder = _OriginFinder(facts)
    for node in nodes_of(module):
        for operand in _operands(node, facts):
            finder.note(operand, node)
    return tuple(sorted(map(_hint, finder.found.items()), key=lambda one: one.span.start))


def _hint(entry: tuple[Symbol, _UntypedName]) -> Diagnostic:
    symbol, found = entry
    schema = found.need.notation()
    settled = f", such as `{symbol.name}: {schema}`" if schema != "any" else ""
    spans = sorted(found.places, key=lambda span: (span.start, span.end))
    # Report only the innermost places.
    spans = [one for one in spans if not any(_is_within(other, one) for other in spans)]
    return catalogue.LEFT_TO_RUN_TIME.at(
        found.span,
        name=symbol.name,
        hint=f"add an annotation{settled}",
        related=tuple(Related(span, "checked at run time") for span in spans[:_SHOWN]),
    )


def _is_within(inner: Span, outer: Span) -> bool:
    return inner != outer and outer.start <= inner.start and inner.end <= outer.end


def _operands(node: n.Node, facts: Facts) -> list[n.Expression]:
    """The operands because of which a construct may be checked at run time.

    The result is empty if the construct is not checked at run time.
    """
    forms = facts.forms
    match node:
        case n.Binary() | n.Comparison() if forms.operators.get(node) is Form.OPS:
            return [node.left, node.right]
        case n.Unary() if forms.operators.get(node) is Form.OPS:
            return [node.operand]
        case n.Member() if forms.members.get(node) is Form.OPS:
            return [node.value]
        case n.Index() if forms.items.get(node) is Form.OPS:
            return [node.value, node.key]
        case n.Slice() | n.TupleMember() if forms.items.get(node) is Form.OPS:
            return [node.value]
        case n.Call():
            return _operands_of_call(node, facts)
        case n.ForStmt() | n.ComprehensionClause():
            is_open = forms.loops.get(node) in (Form.EACH, Form.EACH_OF)
            return [node.iterable] if is_open else []
        case n.UnpackStmt() if forms.unpackings.get(node) is Form.OPS:
            return [node.value]
        case _:
            is_open = isinstance(node, n.Expression) and forms.tests.get(node) is Test.TRUTHY
            return [node] if is_open and isinstance(node, n.Name | n.Member | n.Index) else []


def _operands_of_call(node: n.Call, facts: Facts) -> list[n.Expression]:
    form = facts.forms.calls.get(node)
    if isinstance(form, BuiltinCall) and form.form is Form.OPS:
        return [argument.value for argument in node.arguments]
    is_value = form in (Form.OPS, Form.SEND)
    return [node.function] if is_value else []


class _OriginFinder:
    """Traces checks at run time back to the untyped names that cause them."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.found: dict[Symbol, _UntypedName] = {}

    def note(self, operand: n.Expression, place: n.Node) -> None:
        """Records that a node needs the type of its operand, if the operand is untyped."""
        if self.facts.types.get(operand, ANY) != ANY:
            return
        found = self._need(operand)
        if found is None:
            return
        open_, need = found
        open_.places[place.span] = None
        match place:
            case n.ForStmt() | n.ComprehensionClause():
                need.item = need.item or _Requirements()
            case n.Member():
                need.fields.setdefault(place.name.text, _Requirements())
            case n.Index(value=value) if value is operand:
                self._need(place)
            case n.Binary() | n.Comparison() | n.Unary() | n.Call():
                asked = self._asked(operand, place)
                need.asked = asked if need.asked == ANY else need.asked
            case _:
                pass

    def _need(self, node: n.Expression) -> tuple[_UntypedName, _Requirements] | None:
        """The untyped name that the path `node` starts with, and the requirements on `node`.

        None if `node` is not a path of names, members and items, or if its name is typed.
        """
        match node:
            case n.Name():
                return self._of_name(self.facts.names.of(node))
            case n.Member() | n.Index() | n.Slice():
                found = self._need(node.value)
                if found is None:
                    return None
                open_, need = found
                name = node.name.text if isinstance(node, n.Member) else _written_key(node)
                if name is not None:
                    return open_, need.fields.setdefault(name, _Requirements())
                need.item = need.item or _Requirements()
                return open_, need.item
            case _:
                return None

    def _of_name(self, symbol: Symbol) -> tuple[_UntypedName, _Requirements] | None:
        if symbol.kind not in ("variable", "parameter"):
            return None
        binding = symbol.node
        if isinstance(binding, n.ForStmt | n.ComprehensionClause):
            over = self._need(binding.iterable)
            if over is None or not isinstance(binding.pattern, n.NamePattern):
                return None
            over[1].item = over[1].item or _Requirements()
            return over[0], over[1].item
        if symbol not in self.found:
            span = _span_of(symbol, binding)
            if span is None or self._is_derived(binding):
                return None
            self.found[symbol] = _UntypedName(span)
        return self.found[symbol], self.found[symbol].need

    def _is_derived(self, binding: n.Node | None) -> bool:
        """Whether a variable without an annotation is assigned a value of known type.

        If so, another name causes the check at run time.
        """
        if not isinstance(binding, n.AssignStmt) or binding.schema is not None:
            return False
        return self.facts.types.get(binding.value, ANY) != ANY

    def _asked(self, operand: n.Expression, place: n.Node) -> Type:
        """The type that a node requires of its operand, or `ANY` if unknown."""
        match place:
            case n.Binary(operator="+") | n.Comparison(operator="<" | "<=" | ">" | ">="):
                other = place.right if operand is place.left else place.left
                type_ = self.facts.types.get(other, ANY)
                if is_only(type_, "string"):
                    return STRING
                return NUMBER if type_ != ANY and is_only(type_, "int", "float") else ANY
            case n.Binary(operator="-" | "*" | "/") | n.Unary(operator="-"):
                return NUMBER
            case n.Call():
                form = self.facts.forms.calls.get(place)
                parameter = form.way.parameter(0) if isinstance(form, BuiltinCall) else None
                is_first = bool(place.arguments) and place.arguments[0].value is operand
                is_text = parameter is not None and parameter.kinds == TEXT
                return STRING if is_first and is_text else ANY
            case _:
                return ANY


def _written_key(node: n.Index | n.Slice) -> str | None:
    """The literal key of `value["key"]`, or None."""
    key = node.key if isinstance(node, n.Index) else None
    return key.value if isinstance(key, n.Literal) and isinstance(key.value, str) else None


def _span_of(symbol: Symbol, binding: n.Node | None) -> Span | None:
    """The span at which an annotation can be added: the parameter, or the first binding.

    None if the name already has an annotation (even `any`), or if it cannot have an annotation.
    """
    match binding:
        case n.Parameter() | n.AssignStmt() if binding.schema is not None:
            return None
        case n.Parameter():
            return binding.name.span
        case n.AssignStmt() | n.AugmentedAssignStmt() | n.UnpackStmt():
            return next((one.span for one in bound_by(binding) if one.text == symbol.name), None)
        case _:
            return None
