"""The parts of a script, of which one can change while all else is known of the others.

A part is a function or a record of the top level; all other statements are one part together, which
is None. It also evaluates the defaults of parameters and fields, which stand in other parts.
"""

from collections.abc import Iterable, Sequence, Set

from saftc.flow.statements import evaluated_by
from saftc.semantics.names import Code
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

Part = Code | None

_SEEN_BY_ALL = (n.RecordDef, n.TypeAlias, n.ImportStmt, n.FromImport, n.ServerImport)


def is_part(statement: n.Statement) -> bool:
    """Whether a statement of the top level is a part of its own."""
    return isinstance(statement, Code)


def defaults_of(part: n.Statement) -> Sequence[n.Expression]:
    """What stands in a part, and is evaluated where that is defined."""
    return evaluated_by(part)


def kept_parts(before: n.Module, module: n.Module, wrong: Set[n.Statement]) -> frozenset[Part]:
    """The parts that an edit has left as they were, and that nothing was reported of.

    None are, where the script has other functions, types or imports now, which all parts may see.
    """
    if _frame(before) != _frame(module):
        return frozenset()
    same = set(before.statements) - wrong
    kept: set[Part] = {one for one in module.statements if isinstance(one, Code) and one in same}
    # The rest stays as it is if a part that does not has no default, which belongs to the rest.
    changed = [one for two in (before, module) for one in two.statements if one not in kept]
    if _rest(before) == _rest(module) and all(
        one in same if not is_part(one) else not defaults_of(one) for one in changed
    ):
        kept.add(None)
    return frozenset(kept)


def _frame(module: n.Module) -> list[n.Statement | str]:
    """The functions, types and imports of a script, as all parts may see them."""
    found: list[n.Statement | str] = []
    for one in module.statements:
        if isinstance(one, n.FunctionDef):
            found.append(one.name.text)
        elif isinstance(one, _SEEN_BY_ALL):
            found.append(one)
    return found


def _rest(module: n.Module) -> list[n.Statement | str]:
    return [one.name.text if isinstance(one, Code) else one for one in module.statements]


def nodes_of_parts(module: n.Module, parts: Set[Part]) -> set[n.Node]:
    """All nodes of some parts of a module."""
    return {node for one in _roots(module, parts) for node in walk(one)}


def _roots(module: n.Module, parts: Set[Part]) -> Iterable[n.Node]:
    for statement in module.statements:
        if statement in parts or (None in parts and not is_part(statement)):
            yield statement
        elif None in parts:
            yield from defaults_of(statement)
