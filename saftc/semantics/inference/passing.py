"""Arguments for bare parameters: where the calls decide what a parameter is, they say it here.

The calls of the script that defines the function decide. Those of scripts that import it have to
keep to that: what they do not see would otherwise depend on who else is compiled with it.
"""

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Related
from saftc.semantics.facts import FunctionFacts
from saftc.semantics.inference.context import Inference
from saftc.semantics.inference.environment import Environment
from saftc.semantics.inference.places import fit_into, settle
from saftc.semantics.parameters import passed
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
    NEVER,
    RESULT,
    ListType,
    Type,
    members,
    show,
)
from saftc.syntax import nodes as n


def pass_argument(
    inference: Inference,
    node: n.Expression,
    function: FunctionFacts,
    position: int,
    env: Environment,
) -> None:
    """Infers an argument of a bare parameter, and holds it against what the parameter is."""
    wanted = function.parameters[position]
    if wanted == RESULT and position not in function.from_calls:
        fit_into(inference, node, wanted, env)
        return
    # What the use of a bare parameter asks for is not an annotation: a prompt stays text.
    type_ = inference.expression(node, env)
    if position not in function.from_calls:
        settle(inference, node, type_, wanted)
    elif inference.facts.is_own(function.node):
        inference.take(function.node, position, passed(type_), node)
    elif _is_other(type_, wanted):
        _report(inference, node, type_, function, position)
    elif isinstance(node, n.ListLiteral | n.ObjectLiteral | n.TupleLiteral | n.Conditional):
        # A literal is of the class that is meant.
        fit_into(inference, node, wanted, env)
    else:
        settle(inference, node, type_, wanted)


def _is_other(given: Type, wanted: Type) -> bool:
    """Whether a value of `given` is certainly not what the calls of the other script pass."""
    if fit(given, wanted) in (Fit.CONVERT, Fit.NEVER):
        return True
    lists = [member for member in members(wanted) if isinstance(member, ListType)]
    items = [member.item for member in members(given) if isinstance(member, ListType)]
    # An empty list fits any; but one that is meant for other items is no such list.
    return bool(lists) and any(
        item != NEVER and all(_is_other(item, one.item) for one in lists) for item in items
    )


def _report(
    inference: Inference,
    node: n.Expression,
    given: Type,
    function: FunctionFacts,
    position: int,
) -> None:
    definition = function.node
    parameter = definition.parameters[position].name.text
    source = inference.facts.sources[definition]
    inference.report(
        catalogue.OTHER_ARGUMENT.at(
            node.span,
            name=definition.name.text,
            parameter=parameter,
            expected=show(function.parameters[position]),
            found=show(given),
            hint=f"an annotation of `{parameter}` decides instead of the calls; "
            f"`{parameter}: any` takes everything",
            related=tuple(
                Related(argument.span, "it is this in the script that defines it", source)
                for argument in function.from_calls[position][:3]
            ),
        )
    )
