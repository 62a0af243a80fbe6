"""What generated expressions look like, as data: literals, and forms with a `<type>` at each place.

`<*>` is a place for a value of any type.
"""

from tests.oracle.kinds import (
    BILL,
    BOOL,
    CITY,
    DATE,
    DATETIME,
    DAYS,
    DECIMAL,
    DURATION,
    FLOAT,
    INT,
    NIL,
    STRING,
    TIME,
    TREE,
    Either,
    ListOf,
    MapOf,
    ObjectOf,
    TupleOf,
    Type,
)

INTS = ("1", "2", "3", "7", "-1", "1_000", "4", "12", "5", "0", "10000000000000000000000")
SLICES = ("1:", ":1", "-1:", "0:2", ":", "::2", "::-1", "3:0:-2")
FLOATS = ("0.5", "1.0", "2.25", "1e3", "1e-7", "-0.0", "1e308", "3.0")
STRINGS = ('"a"', '""', '"two words"', '"Zoë"', r'"q\"\n\t"', '"12"', '" x "', '"a,b,c"', '"{}"')
FLOAT_TEXTS = ('"1.5"', '"2"', '" 3e2 "', '"-0.5"', '".5"', '"5."', '"1_0.5"', '"nan"', '"abc"')
INT_TEXTS = ('"12"', '" 7 "', '"-3"', '"1_000"', '"+4"', '"3.5"', '"abc"', '""')

LITERALS_OF_DATES: dict[Type, tuple[str, ...]] = {
    DATE: tuple(f'date("{day}")' for day in ("2026-01-31", "2024-02-29", "2025-12-01")),
    DATETIME: (
        'datetime("2026-01-31T09:30:00+01:00")',
        'datetime("2026-01-31T08:30:00Z")',
        'datetime("2025-12-31T23:59:59.25-05:00")',
    ),
    TIME: ('time("09:30")', 'time("23:59:59")', 'time("09:30:00.5")'),
    DURATION: (
        *('duration("PT90M")', "duration(days: 1)", 'duration("-P3DT4H")', 'duration("PT0S")'),
        "duration(weeks: 1, seconds: 30)",
    ),
    DECIMAL: tuple(
        f'decimal("{one}")' for one in ("12.30", "0.1", "-2", "0", "1e3", "100.00", "3")
    ),
}
DATE_TEXTS = ('"2026-01-31"', '"2026-02-30"', '"31.1.2026"', '"20260131"', '""')
DECIMAL_TEXTS = ('"1.50"', '"-3"', '".5"', '"1,5"', '"nan"', '"1e2"', '" 1"')


# Builtins as values, by what they give for an int.
MAPPED: dict[Type, str] = {
    STRING: "[str, type, json]",
    INT: "[abs, round, int, same]",
    FLOAT: "[float, same(float)]",
}

# What a list of a type can be ordered by, the wrong last.
KEYS: dict[Type, tuple[str, ...]] = {
    INT: ("abs", "str", "same", "float", "type", "upper"),
    FLOAT: ("abs", "round", "int", "same", "json"),
    STRING: ("len", "upper", "lower", "same", "float"),
    BOOL: ("str", "json", "same"),
    CITY: ("size_of", "name_of", "same"),
    ListOf(INT): ("len", "sum", "head_of"),
    TupleOf((INT, STRING)): ("head_of", "len", "json"),
    BILL: ("day_of", "total_of", "due_of"),
    DECIMAL: ("same", "abs", "int", "str", "float"),
    DATE: ("same", "str", "json"),
}

PLACES: dict[str, Type] = {
    "<int>": INT,
    "<float>": FLOAT,
    "<string>": STRING,
    "<bool>": BOOL,
    "<bools>": ListOf(BOOL),
    "<ints>": ListOf(INT),
    "<floats>": ListOf(FLOAT),
    "<strings>": ListOf(STRING),
    "<object>": ObjectOf((("id", INT), ("name", STRING))),
    "<map>": MapOf(INT),
    "<texts>": MapOf(STRING),
    "<pair>": TupleOf((INT, STRING)),
    "<nested>": TupleOf((STRING, TupleOf((INT, BOOL)))),
    "<city>": CITY,
    "<tree>": TREE,
    "<date>": DATE,
    "<datetime>": DATETIME,
    "<time>": TIME,
    "<duration>": DURATION,
    "<decimal>": DECIMAL,
    "<dates>": ListOf(DATE),
    "<decimals>": ListOf(DECIMAL),
    "<prices>": MapOf(DECIMAL),
    "<days>": DAYS,
    "<moments>": MapOf(STRING, DATETIME),
    "<bill>": BILL,
    "<due>": TupleOf((DATE, DECIMAL)),
    "<date?>": Either((DATE, NIL)),
    "<day>": Either((DATE, DATETIME)),
    "<int?>": Either((INT, NIL)),
    "<string?>": Either((STRING, NIL)),
}
INT_FORMS = (
    *("(<int> + <int>)", "(<int> - <int>)", "(<int> * <int>)", "(<int> % 3)", "-<int>"),
    *("(<int> % <int>)", "len(<ints>)", "len(<string>)", "<ints>[0]", "<ints>[-1]"),
    *("<object>.id", '<object>["id"]', "int(<int text>)", "int(<float>)", "round(<float>)"),
    *("abs(<int>)", "sum(<ints>)", "min(<ints>)", "max(<int>, <int>)", "<strings>.length"),
    *("<pair>.0", "<nested>.1.0", "<pair>[0]", "min(<int>, 2, <int>)", "<ints>[<int>]"),
    *('parse("[1, 2]")[1]', "<object>.length", 'parse("{\\"id\\": 4}").id'),
    *("len(keys(<object>))", "div(<int>, 3)", "div(<int>, <int>)", "div(<float>, <int>)"),
    *("min(<ints>, by: abs)", "max(<int>, <int>, by: str)", "len(values(<object>))"),
    *("len(keys(<object>))", '<map>["a"]', "<map>[<string>]", 'get(<map>, "a", <int>)'),
    *("len(<map>)", "get(<map>, <string>, <int>)", "<map>.id", "len(items(<map>))"),
    *("len(<tree>.parts)", "len([part for part in <tree>.parts if part.size > 1])"),
    *("<date>.year", "<date>.weekday", "<datetime>.hour", "<duration>.days", "<time>.minute"),
    *("round(<decimal>)", "int(<decimal>)", "<bill>.day.month", "<datetime>.time.second"),
    *("applied(grown, <int>)", "applied(abs, <int>)", "applied(same, <int>)"),
    *("applied(same(grown), <int>)", "{...same({n: <int>}), m: 2}.n"),
    *("(<date> - <date>).days", "<day>.year", "len(<decimals>)", "<datetime>.date.day"),
    *("<days>[<date>]", "get(<days>, <date>, <int>)", "len(<days>)", "<days>.length"),
    *("len([day for day, n in items(<days>) if n > 1])", "sum(values(<days>))"),
)
FLOAT_FORMS = (
    *("(<int> / 4)", "(<int> / <int>)", "(<float> + <int>)", "(<int> * <float>)"),
    *("(<float> - <float>)", "(<float> / 2)", "float(<int>)", "float(<float text>)"),
    *("halved(half_of, <int>)", "halved(same, <int>)", "halved(abs, <int>)"),
    "bound(<float>, <int>)",
    *("size_of({...same(<city>), size: <float>})", "{...<city>, size: <float>}.size"),
    *("sum([1.5, <float>])", "-<float>", "<city>.size", "round(<float>, 1)", "abs(<float>)"),
    *("max(<floats>)", "round(<float>, digits: 2)", 'float("nan")', "<tree>.size"),
    *("<tree>.parts[0].size", "sum([part.size for part in <tree>.parts])"),
    *("<duration>.total_seconds", "(<duration> / <duration>)", "float(<decimal>)"),
)
STRING_FORMS = (
    *('f"{ <*> }"', 'f"a{<int>:,} {<string>:>4}{{}}"', 'f"{<float>:.2f}, {<string>}"'),
    *("(<string> + <string>)", "upper(<string>)", "lower(<string>)", "strip(<string>)"),
    *("str(<*>)", "type(<*>)", "json(<*>)", 'join(<strings>, ", ")', 'join("-", <strings>)'),
    *("join(<strings>)", "<string>[0]", "<string>[1:]", "<strings>[0]", "<object>.name"),
    *('replace(<string>, "a", <string>)', "<pair>.1", 'split("a b")[1]', "<nested>.0"),
    *("told(str, <float>)", "told(same(str), <int>)", "name_of({...same(<city>), name: <string>})"),
    *("<city>.name", '<object>["name"]', "max(<strings>)"),
    *('split("a;b", separator: ";")[0]', "str(<bool>)", 'env("SAFT_ORACLE_UNSET", "unset")'),
    *('parse("\\"p\\"")', "join(<strings>, <string>)", "max(<strings>, by: len)"),
    *("min(by: lower, items: <strings>)",),
    *('parse("\\"p\\"")', "join(<strings>, <string>)", 'get(<texts>, "name", <string>)'),
    *("str(get(<map>, <string>))", "join(keys(<map>))", 'get(<object>, "name", "?")'),
    *("str(<date>)", "str(<decimal>)", "str(<duration>)", 'f"{<date>:%d.%m.%Y} {<decimal>:.2f}"'),
    *("json(<bill>)", 'f"{<datetime>} {<time>}"', "str([<decimal>, <duration>])"),
    *("str(<days>)", "json(<days>)", "str(items(<moments>))"),
    "get(<moments>, <datetime>, <string>)",
)
BOOL_FORMS = (
    *("(<int> < <int>)", "(<float> >= <int>)", "(<string> <= <string>)", "(not <bool>)"),
    *("(<bool> and <bool>)", "(<bool> or <bool>)", "(<*> and <*>)", "(not <*>)"),
    *("(<*> or <*>)", "starts_with(<string>, <string>)", "ends_with(<string>, <string>)"),
    *("(<string> in <string>)", "contains(<strings>, <string>)", '("id" in <object>)'),
    *("contains(<object>, <string>)", "(<int> == <float>)", "(<*> == <*>)", "(<*> != <*>)"),
    *("(<int?> == nil)", "(<string?> != nil)", '(type(<*>) == "int")'),
    *('(type(<*>) == "bool")', "(<*> == true)", '(type(<*>) != "nil")'),
    *("(<string> in <map>)", "(<map> == <map>)"),
    *("(<int> in <floats>)", "(<city> == <city>)", "(<pair> == <pair>)"),
    *("(<tree> == <tree>)", "(<tree> in <tree>.parts)", "(<floats> == <floats>)"),
    *("(<*> in [1, true, nil])", "(<bool> == <bool>)", '(type(<*>) == "float")'),
    *("any(<bools>)", "all(<bools>)", "any([x > 1 for x in <ints>])", "all([<bool>, <bool>])"),
    *("(<date> < <date>)", "(<decimal> >= <int>)", "(<decimal> == <float>)", "(<date> in <dates>)"),
    *("(<decimal> == <int>)", "(<datetime> == <datetime>)", "(<duration> <= <duration>)"),
    *("(<time> < <time>)", "(<bill> == <bill>)", '(type(<*>) == "date")', "(<date?> == nil)"),
    *('(type(<day>) == "datetime")', "(<decimal> in <floats>)", "(<decimal> != <decimal>)"),
    *("(<datetime> > <datetime>)", "(<int> < <decimal>)", "(<day> == <date>)"),
    *('("object" == type(<*>))', "(same(<int?>) > 1)", "(<ints> == (1, 2))"),
    *("(<date> in <days>)", "(<days> == <days>)", "contains(<moments>, <datetime>)"),
)
FORMS_OF_DATES: dict[Type, tuple[str, ...]] = {
    DATE: (
        *("(<date> + <duration>)", "(<duration> + <date>)", "(<date> - <duration>)"),
        *("<datetime>.date", "min(<dates>)", "max(<date>, <date>)", "<bill>.day", "<due>.0"),
        *("date(<date text>)", "<dates>[0]", "sorted(<dates>)[0]"),
    ),
    DATETIME: (
        *("(<datetime> + <duration>)", "(<datetime> - <duration>)"),
        *("max(<datetime>, <datetime>)", "datetime(str(<datetime>))"),
    ),
    TIME: ("<datetime>.time", "min(<time>, <time>)", "time(str(<time>))"),
    DURATION: (
        *("(<date> - <date>)", "(<datetime> - <datetime>)", "(<duration> * <int>)"),
        *("(<float> * <duration>)", "(<duration> / 2)", "(<duration> / <int>)", "-<duration>"),
        *("abs(<duration>)", "duration(days: <int>)", "duration(hours: 1, minutes: <int>)"),
        *(
            "(<duration> + <duration>)",
            "sum([<duration>, <duration>])",
            "duration(str(<duration>))",
        ),
    ),
    DECIMAL: (
        *("(<decimal> + <decimal>)", "(<decimal> - <int>)", "(<int> * <decimal>)"),
        *("(<decimal> / <int>)", "(<decimal> / 4)", "(<decimal> / <decimal>)", "-<decimal>"),
        *("abs(<decimal>)", "round(<decimal>, 1)", "round(<decimal>, <int>)", "decimal(<int>)"),
        *("sum([<decimal>, <decimal>])", "sum([<decimal>, ...<decimals>])", "<bill>.total"),
        *("max(<decimal>, <decimal>)", 'get(<prices>, "a", <decimal>)', "<due>.1"),
        *("decimal(<decimal text>)", "min(<decimals>)", "sum([2, <decimal>])", "<decimals>[0]"),
    ),
}
