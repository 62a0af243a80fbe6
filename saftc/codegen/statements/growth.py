"""Emits in-place changes of lists and objects that no other name refers to.

    xs = xs + [x]                       xs.append(x)
    xs = [...xs, ...ys]                 xs.extend(ys)
    counts = {...counts, [key]: n}      counts[key] = n

`lower.ownership` decides when this is possible.
"""

from typing import assert_never

import libcst as cst

from saftc.check.forms import Append, Extend, Growth, Put
from saftc.codegen import python as py
from saftc.codegen.context import Context
from saftc.codegen.expressions.builtins import emit_iterable
from saftc.codegen.expressions.literals import emit_entry, emit_item, emit_spread
from saftc.syntax import nodes as n

Expression = cst.BaseExpression


def emit_growth(context: Context, target: Expression, growth: Growth) -> cst.Expr | cst.Assign:
    """Emits the statement that changes the list or object in `target` in place."""
    match growth:
        case Append(items=(item,)) if not isinstance(item, n.Spread):
            method, given = "append", context.emit(item)
        case Append(items):
            method, given = "extend", py.list_([emit_item(context, item) for item in items])
        case Extend(added):
            is_spread = isinstance(added, n.Spread)
            method = "extend"
            given = emit_spread(context, added) if is_spread else emit_iterable(context, added)
        case Put(entries=(entry,), is_item=True):
            key, value = emit_entry(context, entry)
            key = py.constant(key) if isinstance(key, str) else key
            assert key is not None
            return py.assignment(py.subscript(target, key), value)
        case Put(entries=(n.Spread() as spread,)):
            _, given = emit_entry(context, spread)
            method = "update"
        case Put(entries):
            method, given = "update", py.dict_([emit_entry(context, one) for one in entries])
        case _:
            assert_never(growth)
    return cst.Expr(py.call(py.attribute(target, method), [given]))
