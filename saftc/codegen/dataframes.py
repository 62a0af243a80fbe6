"""Calls on dataframes, in polars' own words where it has them.

head(df, 3)             df.head(3)
len(df)                 df.height
sum(df, "goals")        ops.sum(df, "goals"), as only the data tells what the column holds
select(df, ["name"])    ops.select(df, ["name"]), as polars takes some names for patterns, and its
                        own method is of a type that checkers do not know without numpy
"""

from collections.abc import Sequence

from saftc.codegen import python as py
from saftc.codegen.context import Context
from saftc.codegen.python import Expression
from saftc.semantics.builtins import TABLE, Builtin
from saftc.semantics.types import is_only
from saftc.syntax import nodes as n

_ATTRIBUTES = {"shape": "shape", "columns": "columns", "len": "height"}
_CALLS = {"head", "select", "sum", "min", "max"}


def dataframe_call(
    context: Context, builtin: Builtin, given: Sequence[n.Expression]
) -> Expression | None:
    """A proved call of a builtin on a dataframe; None when it is another call."""
    if not given or not is_only(context.type_of(given[0]), *TABLE):
        return None
    if builtin.name in _ATTRIBUTES:
        return py.attribute(context.emit(given[0]), _ATTRIBUTES[builtin.name])
    if builtin.name not in _CALLS:
        return None
    values = [context.emit(argument) for argument in given]
    if builtin.name == "head":
        return py.call(py.attribute(values[0], "head"), values[1:])
    return context.operation(builtin.name, *values)
