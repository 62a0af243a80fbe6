"""Reports checks at run time, grouped by the untyped name whose annotation would avoid them.

    f describe(person):
        ret person.name + ", " + str(person.age + 1)

The members of `person` and a `+` are checked at run time. With an annotation of `person`, they
would be checked at compile time.
"""

from saftc.check.facts import Facts
from saftc.check.forms import BuiltinCall, Form, Test
from saftc.check.names import Symbol
from saftc.check.statements import bound_by
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Diagnostic, Related
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.types import ANY

_SHOWN = 8


def run_time_checks(module: n.Module, facts: Facts) -> tuple[Diagnostic, ...]:
    """A hint for each untyped name that makes checks at run time necessary, in source order."""
    found: dict[Symbol, set[Span]] = {}
    for node in nodes_of(module):
        for operand in _operands(node, facts):
            origin = _origin(operand, facts) if facts.types.get(operand, ANY) == ANY else None
            if origin is not None:
                found.setdefault(origin, set()).add(node.span)
    hints = [_hint(symbol, spans) for symbol, spans in found.items()]
    return tuple(sorted(hints, key=lambda one: one.span.start))


def _hint(symbol: Symbol, places: set[Span]) -> Diagnostic:
    # Report only the innermost places.
    innermost = [one for one in places if not any(_is_within(other, one) for other in places)]
    spans = sorted(innermost, key=lambda span: (span.start, span.end))
    span = _annotated_at(symbol)
    assert span is not None
    return catalogue.LEFT_TO_RUN_TIME.at(
        span,
        name=symbol.name,
        hint="add an annotation",
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


def _origin(node: n.Expression, facts: Facts) -> Symbol | None:
    """The untyped name that the path `node` starts with.

    None if `node` is not a path of names, members and items, or if its name is typed. The origin of
    a loop's item is that of the list.
    """
    while isinstance(node, n.Member | n.Index | n.Slice):
        node = node.value
    symbol = facts.names.of(node) if isinstance(node, n.Name) else None
    if symbol is None or symbol.kind not in ("variable", "parameter"):
        return None
    match symbol.node:
        case n.ForStmt() | n.ComprehensionClause() as loop:
            is_item = isinstance(loop.pattern, n.NamePattern)
            return _origin(loop.iterable, facts) if is_item else None
        case n.AssignStmt(value=value) if facts.types.get(value, ANY) != ANY:
            return None  # another name causes the check
        case _:
            return None if _annotated_at(symbol) is None else symbol


def _annotated_at(symbol: Symbol) -> Span | None:
    """The span at which an annotation can be added: the parameter, or the first binding.

    None if the name already has an annotation (even `any`), or if it cannot have an annotation.
    """
    match symbol.node:
        case n.Parameter() | n.AssignStmt() as binding if binding.schema is not None:
            return None
        case n.Parameter(name=name):
            return name.span
        case n.AssignStmt() | n.AugmentedAssignStmt() | n.UnpackStmt() as binding:
            return next((one.span for one in bound_by(binding) if one.text == symbol.name), None)
        case _:
            return None
