"""Lists and objects that change in place, as no other name holds them (see `semantics.ownership`).

xs = xs + [x]                       xs.append(x)
xs = [...xs, ...ys]                 xs.extend(ys)
xs = xs[1:]                         del xs[:1]
counts = {...counts, [key]: n}      counts[key] = n
row = {...row, ids: row.ids + [3]}  row["ids"].append(3)
"""

from typing import assert_never

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.builtins import emit_iterable
from saftc.codegen.context import Context
from saftc.codegen.literals import emit_entry, emit_item, emit_spread
from saftc.semantics.forms import Added, Append, Cut, Extend, Grown, Growth, Put, Within
from saftc.syntax import nodes as n

Expression = cst.BaseExpression
Change = cst.Expr | cst.Assign | cst.AugAssign | cst.Del


def emit_growth(context: Context, target: Expression, growth: Growth) -> list[Change]:
    """The statements by which the value of `target` changes in place."""
    if not isinstance(growth, Within):
        return [_changed(context, target, growth)]
    return [_entry(context, target, entry, grown) for entry, grown in growth.entries]


def _entry(
    context: Context,
    owner: Expression,
    entry: n.Field | n.ComputedField,
    grown: Grown | Added | None,
) -> Change:
    """The statement by which one entry of an object changes."""
    is_field = isinstance(entry, n.Field)
    key = py.constant(entry.key.text) if is_field else context.emit(entry.key)
    target = py.subscript(owner, key)
    match grown:
        case None:
            return py.assignment(target, context.emit(entry.value))
        case Added(operator, right):
            return py.augmented(target, operator, context.emit(right))
        case Grown(read=n.Call(arguments=(_, _, default))):
            kept = py.attribute(owner, "setdefault")
            target = py.call(kept, [key, context.emit(default.value)])
        case Grown():
            pass
    return _changed(context, target, grown.growth)


def _changed(
    context: Context, target: Expression, growth: Append | Extend | Put | Cut
) -> cst.Expr | cst.Assign | cst.Del:
    match growth:
        case Append(items=(item,)) if not isinstance(item, n.Spread):
            method, given = "append", context.emit(item)
        case Append(items):
            method, given = "extend", py.list_([emit_item(context, item) for item in items])
        case Extend(added):
            is_spread = isinstance(added, n.Spread)
            method = "extend"
            given = emit_spread(context, added) if is_spread else emit_iterable(context, added)
        case Cut(start=None, stop=stop):
            assert stop is not None
            return cst.Del(py.slice_(target, context.emit(stop), None, None))
        case Cut(start=start):
            assert start is not None
            return cst.Del(py.slice_(target, None, context.emit(start), None))
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
