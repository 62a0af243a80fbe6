"""Calls on dataframes, in polars' own words where it has them.

select(df, ["name"])    df.select(["name"])
len(df)                 df.height
sum(df, "goals")        ops.sum(df, "goals"), as only the data tells what the column holds
"""

from collections.abc import Sequence

from saftc.codegen import python as py
from saftc.codegen.context import Context
from saftc.codegen.python import Expression
from saftc.semantics.builtins import TABLE, Builtin
from saftc.semantics.types import is_only
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk

_ATTRIBUTES = {"shape": "shape", "columns": "columns", "len": "height"}
_METHODS = {"head", "select"}
_OF_COLUMNS = {"sum", "min", "max"}


def dataframe_call(
    context: Context, builtin: Builtin, given: Sequence[n.Expression]
) -> Expression | None:
    """A proved call of a builtin on a dataframe; None when it is another call."""
    if not given or not is_only(context.type_of(given[0]), *TABLE):
        return None
    if builtin.name in _ATTRIBUTES:
        return py.attribute(context.emit(given[0]), _ATTRIBUTES[builtin.name])
    if builtin.name not in _METHODS | _OF_COLUMNS:
        return None
    values = [context.emit(argument) for argument in given]
    if builtin.name in _METHODS and not any(map(_is_pattern, walk(given[-1]))):
        return py.call(py.attribute(values[0], builtin.name), values[1:])
    return context.operation(builtin.name, *values)


def _is_pattern(node: n.Node) -> bool:
    """Whether polars takes a name for a pattern of names."""
    if not isinstance(node, n.Literal) or not isinstance(node.value, str):
        return False
    return node.value == "*" or (node.value.startswith("^") and node.value.endswith("$"))
