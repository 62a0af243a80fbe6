"""Saft's operations and builtins on values whose types the compiler could not prove.

    ops.add(a, b)    ops.member(row, "price")    ops.each(rows)    ops.truthy(x)    ops.upper(x)

Each operation follows one line of the language's semantics table and raises CheckError,
MissingError or ZeroError where Python's own operator would do something else. The builtins are
checked functions under their names in Saft; they can be passed around and be tools.
"""

from runtime_support._builtins import abs_ as abs
from runtime_support._builtins import all_ as all
from runtime_support._builtins import any_ as any
from runtime_support._builtins import (
    append_text,
    columns,
    contains,
    ends_with,
    env,
    fields,
    file,
    get,
    head,
    image,
    items,
    join,
    key,
    keys,
    list_files,
    lower,
    mean,
    parse,
    read,
    read_text,
    replace,
    rows,
    select,
    shape,
    split,
    spread,
    starts_with,
    strip,
    upper,
    values,
    write_text,
)
from runtime_support._builtins import div as floordiv
from runtime_support._builtins import enumerate_ as enumerate
from runtime_support._builtins import float_ as float
from runtime_support._builtins import input_ as input
from runtime_support._builtins import int_ as int
from runtime_support._builtins import json_ as json
from runtime_support._builtins import len_ as len
from runtime_support._builtins import max_ as max
from runtime_support._builtins import min_ as min
from runtime_support._builtins import print_ as print
from runtime_support._builtins import range_ as range
from runtime_support._builtins import reversed_ as reversed
from runtime_support._builtins import round_ as round
from runtime_support._builtins import sorted_ as sorted
from runtime_support._builtins import str_ as str
from runtime_support._builtins import sum_ as sum
from runtime_support._builtins import type_ as type
from runtime_support._builtins import zip_ as zip
from runtime_support._operators import (
    add,
    call,
    div,
    each,
    each_of,
    eq,
    format,
    ge,
    gt,
    index,
    is_in,
    item,
    le,
    lt,
    member,
    mod,
    mul,
    ne,
    neg,
    send,
    slice,
    sub,
    truthy,
    unpack,
)

__all__ = [
    "abs",
    "add",
    "all",
    "any",
    "append_text",
    "call",
    "columns",
    "contains",
    "div",
    "each",
    "each_of",
    "ends_with",
    "enumerate",
    "env",
    "eq",
    "fields",
    "file",
    "float",
    "floordiv",
    "format",
    "ge",
    "get",
    "gt",
    "head",
    "image",
    "index",
    "input",
    "int",
    "is_in",
    "item",
    "items",
    "join",
    "json",
    "key",
    "keys",
    "le",
    "len",
    "list_files",
    "lower",
    "lt",
    "max",
    "mean",
    "member",
    "min",
    "mod",
    "mul",
    "ne",
    "neg",
    "parse",
    "print",
    "range",
    "read",
    "read_text",
    "replace",
    "reversed",
    "round",
    "rows",
    "select",
    "send",
    "shape",
    "slice",
    "sorted",
    "split",
    "spread",
    "starts_with",
    "str",
    "strip",
    "sub",
    "sum",
    "truthy",
    "type",
    "unpack",
    "upper",
    "values",
    "write_text",
    "zip",
]
