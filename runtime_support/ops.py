"""Saft's operators and builtins, for values whose types the compiler could not prove.

    ops.add(a, b)    ops.member(row, "price")    ops.each(rows)    ops.truthy(x)    ops.upper(x)

    from runtime_support.ops import parse, show        in compiled modules, for unqualified names

The rules are those of docs/language.md, "Operators" and "Builtins". Where Python's operator would
do something else, the operation raises a CheckError, a MissingError or a ZeroError. The builtins
have their names in Saft, except `show` (str), `kind` (type), `to_json` (json) and `read_line`
(input); you can pass them around and offer them as tools.

`_HOMES` lists the names by the module that defines them. A module is imported when one of its names
is first used.
"""

from __future__ import annotations

from runtime_support._values.lazy import load_lazily

_HOMES = {
    "_journal.approval": "approve",
    "_core.tasks.loops": "maybe_await",
    "_values.json_text": "json=to_json parse to_json",
    "_language.builtins": (
        "abs=abs_ all=all_ any=any_ changed chars contains ends_with enumerate=enumerate_ env "
        "fields float=float_ floordiv=div get int=int_ items join key keys len=len_ lower "
        "matches max=max_ min=min_ print=print_ range=range_ replace reversed=reversed_ "
        "round=round_ sorted=sorted_ split spread starts_with str=str_ strip sum=sum_ "
        "type=type_ unique upper values write zip=zip_"
    ),
    "_language.dates": (
        "date=to_date datetime=to_datetime decimal=to_decimal duration=to_duration now "
        "time=to_time to_date to_datetime to_decimal to_duration to_time today"
    ),
    "_language.failures": "Failure failure",
    "_language.files": "append_text input=input_ list_files read_line read_text write_text",
    "_language.operators": (
        "acall add call div each each_of eq format ge gt index is_in item le lt member mod mul "
        "ne neg send slice sub truthy unpack"
    ),
    "_media": "file image",
    "_schema.rules": "require",
    "_tables": "columns head mean read rows select shape",
    "_values.kinds": "kind show",
}
__getattr__, __dir__, __all__ = load_lazily(__name__, _HOMES)
