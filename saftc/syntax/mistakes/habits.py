"""Words and methods of other languages, each with a hint at its replacement in Saft.

The tables are used by several stages of the compiler. Hints that depend on the tokens around a
mistake are in `hints`.
"""

from collections.abc import Collection

from saftc.syntax import nodes as n

_FAIL = 'write `fail "message"`; in an `except error:`, `fail error` passes the failure on'
# The hint for a list of classes after `except`; the placeholder is the name of the error.
ALL_FAILURES = "`except {0}:` handles every failure; `if {0}.kind == ...` distinguishes them"
NO_ELSE = "a `try` has no `else`: write what happens without a failure at the end of its block"

# Words that other languages have at the beginning of a statement, or before an expression.
WORDS = {
    **dict.fromkeys(("def", "function", "fn", "func", "fun"), "a function begins with `f`"),
    "return": "write `ret`",
    **dict.fromkeys(("let", "var", "const"), "an assignment needs no word before it"),
    **dict.fromkeys(
        ("class", "struct", "interface", "record", "dataclass"), "write `type Name(field: schema)`"
    ),
    "enum": 'write `type Name = "one" | "two"`',
    **dict.fromkeys(("elseif", "elsif"), "write `elif`"),
    **dict.fromkeys(("unless", "until"), "write `if not` or `while not`"),
    "foreach": "write `for x in xs:`",
    **dict.fromkeys(("loop", "repeat"), "write `while true:`"),
    "try": "a block that may fail begins with `try:`, and `except error:` is below it",
    **dict.fromkeys(("except", "catch", "rescue"), "write `except error:`"),
    "finally": "`except` handles every failure: write what must always run below it",
    **dict.fromkeys(("raise", "throw"), _FAIL),
    "fail": _FAIL,
    "with": "there is no `with` block; `read_text(path)` and `write_text(path, text)` close files",
    "lambda": "define a function with `f`",
    **dict.fromkeys(
        ("global", "nonlocal"),
        "a function cannot assign a name outside of it; return the value with `ret`",
    ),
    "del": "values are immutable; make a new one without it",
    **dict.fromkeys(
        ("async", "await"),
        "leave it out: a script waits for each prompt, and for calls of an `async def` of Python",
    ),
    "yield": "a function returns one value; collect a list and `ret` it",
    **dict.fromkeys(("match", "switch", "case"), "write `if` and `elif`"),
    **dict.fromkeys(("print", "echo", "puts"), "a call has parentheses: `print(x)`"),
    **dict.fromkeys(("export", "public", "pub", "private", "static"), "it needs no word before it"),
    **dict.fromkeys(("new",), "a call needs no word before it"),
    **dict.fromkeys(("use", "using", "include", "require"), "write `import name`"),
    **dict.fromkeys(
        ("int", "float", "str", "string", "bool", "list", "dict"),
        "write the type after the name: `x: int`",
    ),
}

# Replacements for such words at the beginning of a statement, if they are its only mistake.
SPELLINGS = {
    **dict.fromkeys(("def", "function", "fn", "func", "fun"), "f"),
    "return": "ret",
    **dict.fromkeys(("elseif", "elsif"), "elif"),
    "foreach": "for",
    **dict.fromkeys(("use", "using", "include", "require"), "import"),
    **dict.fromkeys(("raise", "throw"), "fail"),
    **dict.fromkeys(("let", "var", "const", "new"), ""),
    **dict.fromkeys(("export", "public", "pub", "private", "static"), ""),
}

# Words that begin a block whose content is dropped, and words that continue another block.
FOREIGN_BLOCKS = {"class", "struct", "interface", "enum", "match", "switch"}
GOES_ON = {
    "except": "try",
    "catch": "try",
    "finally": "try",
    "else": "try",
    "case": "match",
    "await": "async",
}

# Words that other languages have before an expression inside a statement.
PREFIXES = {"lambda", "await", "new", "yield", "not"}

# Generic types of Python, and their form in Saft around the types in the brackets.
GENERICS = {
    **dict.fromkeys(
        ("list", "List", "Sequence", "Iterable", "set", "Set", "frozenset", "Array"), "[{}]"
    ),
    **dict.fromkeys(("Optional", "Maybe"), "{}?"),
    **dict.fromkeys(("tuple", "Tuple"), "({})"),
    "Callable": "(A) -> B",
    "Union": "{}",
    "Literal": "{}",
}
PLAIN_TYPES = {"str": "string", "None": "nil", "boolean": "bool", "integer": "int", "Any": "any"}
OBJECTS = {"dict", "Dict", "Mapping", "Map", "map", "Record", "object"}

# Prefixes of strings.
STRING_PREFIXES = {
    "f": 'a formatted string begins with a small `f`: `f"hello {name}"`',
    "r": r"there are no raw strings; write `\\` for a backslash",
    "b": "there are no bytes; leave the prefix out",
    "u": "strings are Unicode; leave the prefix out",
}

# Names that other languages define, and hints at their replacements in Saft.
_PYTHONS = "`from builtins import {name}` imports Python's"
ABSENT_NAMES = {
    "open": "`read_text(path)` reads a file, `write_text` and `append_text` write one",
    **dict.fromkeys(
        ("exists", "file_exists", "path_exists", "is_file", "isfile"),
        "`path in list_files(path)` tests whether the file exists",
    ),
    **{name: _PYTHONS.format(name=name) for name in ("chr", "ord", "pow", "divmod")},
    **{name: _PYTHONS.format(name=name) for name in ("bin", "hex", "oct", "hash", "id", "format")},
    **{name: f"`from math import {name}` imports Python's" for name in ("floor", "ceil", "sqrt")},
    **dict.fromkeys(("raw_input", "gets", "readline"), "`input(question)` reads a line"),
    **dict.fromkeys(("some", "every"), "`any(xs)` and `all(xs)` take a list of bools"),
    "map": "write `[g(x) for x in xs]`",
    "filter": "write `[x for x in xs if x > 2]`",
    "list": "a list is written `[a, b]`; `[x for x in xs]` converts a tuple",
    **dict.fromkeys(("set", "frozenset"), "there are no sets; write a list: `[a, b]`"),
    "dict": "an object is written `{name: value}`",
    **dict.fromkeys(("object", "Object"), "an object is written `{name: value}`"),
    "tuple": "a tuple is written `(a, b)`",
    "bool": 'compare: `x != 0`, `x != ""`',
    "repr": "`json(x)` or `str(x)` makes a string of it",
    **dict.fromkeys(
        ("ask", "prompt", "llm", "chat", "complete", "generate"),
        "write a prompt between two `$`: `$ who is {name}? $`",
    ),
    **dict.fromkeys(
        ("isinstance", "typeof", "instanceof"), '`type(x) == "int"` tests the type of a value'
    ),
    **dict.fromkeys(
        ("exit", "quit"),
        "a script ends at its last line; `assert condition, message` stops it before",
    ),
    **dict.fromkeys(("iter", "next"), "`for` loops over a list; `xs[0]` is its first item"),
    **dict.fromkeys(("hasattr", "getattr"), '`"name" in x` tests whether an object has a field'),
    **dict.fromkeys(("setattr", "delattr"), "values are immutable; make a new one"),
    **dict.fromkeys(("println", "printf", "console", "puts", "echo"), "write `print(x)`"),
    **dict.fromkeys(("self", "this"), "there are no classes; pass values to functions"),
    "super": "there are no classes",
    **dict.fromkeys(
        ("Exception", "ValueError", "TypeError", "RuntimeError", "KeyError", "Error"),
        _FAIL,
    ),
    **dict.fromkeys(("Math", "JSON"), "`round`, `abs`, `json` and `parse` are functions"),
    **dict.fromkeys(("load", "loads", "read_json"), "`parse(read_text(path))` reads JSON"),
    "read_csv": "`read(path)` reads a CSV file",
    **dict.fromkeys(("lines", "readlines"), '`split(text, "\\n")` makes lines of it'),
    "sleep": "write `from time import sleep` at the top",
    **{
        name: f"write `import {name}` at the top"
        for name in ("math", "os", "sys", "re", "time", "random", "datetime", "itertools")
    },
    "__name__": "a function `main` without parameters runs when the script is run",
    "string": "did you mean `str`?",
    "timedelta": "write `duration(days: 1)`",
}

# Arguments of Python's builtins that Saft's builtins do not have.
_NO_KEY = "pass a function that returns what to compare: `{}(xs, by: f)`"
ABSENT_ARGUMENTS = {
    ("print", "end"): "`print` ends the line; `write(x)` does not",
    ("print", "flush"): "`write(x)` writes a value at once, without a line end",
    ("print", "sep"): '`print` puts a blank between its values; join them: `f"{a}, {b}"`',
    **{(name, "key"): _NO_KEY.format(name) for name in ("sorted", "min", "max")},
}

# Methods of values in Python and JavaScript; `{x}` in a hint is the value.
METHODS = {
    **dict.fromkeys(("upper", "toUpperCase"), "write `upper({x})`"),
    **dict.fromkeys(("lower", "casefold", "toLowerCase"), "write `lower({x})`"),
    **dict.fromkeys(("strip", "trim", "lstrip", "rstrip"), "write `strip({x})`"),
    **dict.fromkeys(("split", "splitlines"), 'write `split({x}, ",")`'),
    "join": "write `join(texts, {x})`",
    "replace": "write `replace({x}, old, new)`",
    **dict.fromkeys(("startswith", "startsWith"), "write `starts_with({x}, part)`"),
    **dict.fromkeys(("endswith", "endsWith"), "write `ends_with({x}, part)`"),
    **dict.fromkeys(("contains", "includes", "has", "has_key"), "write `part in {x}`"),
    **dict.fromkeys(("find", "index", "indexOf"), "`part in {x}` tests whether it is there"),
    "format": 'write `f"total: {{n}}"`',
    **dict.fromkeys(("append", "push", "add"), "values are immutable; write `{x} += [item]`"),
    **dict.fromkeys(("extend", "concat"), "values are immutable; write `{x} += other`"),
    "insert": "values are immutable; write `{x} = {x}[:i] + [item] + {x}[i:]`",
    "pop": "values are immutable; `{x}[-1]` is the last item, `{x}[:-1]` the others",
    "remove": "values are immutable; write `[i for i in {x} if i != item]`",
    "sort": "write `{x} = sorted({x})`",
    "reverse": "write `{x} = reversed({x})`",
    "clear": "values are immutable; write `{x} = []`",
    "copy": "values are immutable, so no copy is needed",
    "count": "write `len([i for i in {x} if i == item])`",
    "map": "write `[g(i) for i in {x}]`",
    "filter": "write `[i for i in {x} if i > 2]`",
    "get": 'write `get({x}, "key", default)`',
    "keys": "write `keys({x})`",
    "values": "write `values({x})`",
    "items": "write `items({x})`",
    **dict.fromkeys(
        ("update", "setdefault"),
        "values are immutable; write `{x} = {{...{x}, key: value}}`",
    ),
    **dict.fromkeys(("size", "len"), "write `len({x})`"),
    **dict.fromkeys(("toString", "to_string", "to_s"), "write `str({x})`"),
    **{name: f"write `{name}({{x}})`" for name in ("round", "abs")},
    "today": "write `today()`",
    **dict.fromkeys(("now", "utcnow"), "write `now()`"),
    "fromisoformat": "write `{x}(text)`",
    **dict.fromkeys(("loads", "parse"), "write `parse(text)`"),
    **dict.fromkeys(("dumps", "stringify"), "write `json(value)`"),
    **dict.fromkeys(("dict", "json", "model_dump_json"), "write `json({x})`"),
}

# Methods of Python's dictionaries; any other member of an object may be a field of it.
_OF_OBJECTS = {"get", "keys", "values", "items", "update", "setdefault", "pop", "clear", "copy"}


def method_hint(node: n.Member, fields: Collection[str]) -> str | None:
    """Returns the hint if `node` is a method that values have in another language, or else None.

    `fields` has the names of the value's fields.
    """
    hint = METHODS.get(node.name.text)
    if hint is None or (fields and node.name.text not in _OF_OBJECTS):
        return None
    match node.value:
        case n.Name(text=text):
            return hint.format(x=text)
        case n.Literal(value=str() as text) if len(text) < 12 and text.isprintable():
            return hint.format(x=f'"{text}"')
        case _:
            return hint.format(x="x")


_QUOTES = "'\u2018\u2019\u201c\u201d`\u201e\u00ab\u00bb"
# Characters without meaning in code, with a hint for each.
CHARACTERS = {
    **dict.fromkeys(_QUOTES, 'write strings in double quotes: `"..."`'),
    "#": "a comment begins with `//`",
    "!": "write `not`",
    "&": "write `and`",
    ";": "put each statement on its own line",
    "\\": "put the expression in parentheses: inside, it may take several lines",
    "\r": "lines end with LF or CRLF",
    "@": "leave it out; a prompt offers a function as a tool by its name: `{look_up}`",
    "\u00a0": "it is a no-break space; write an ordinary one",
    "\u2013": "write `-`",
    "\u2014": "write `-`",
    "\u2212": "write `-`",
    "\u00d7": "write `*`",
    "\u00f7": "write `/`",
    "\u2264": "write `<=`",
    "\u2265": "write `>=`",
    "\u2260": "write `!=`",
    "\u2026": "write `nil` for an empty block",
    "^": "there are no operators for bits; for powers, `from builtins import pow`: `pow(2, 3)`",
    "~": "there are no operators for bits",
}

# Replacements for such characters, if they are the only mistake.
INSTEAD = {
    "#": "//",
    "!": "not",
    "&": "and",
    "\u00a0": " ",
    **dict.fromkeys("\u2013\u2014\u2212", "-"),
    "\u00d7": "*",
    "\u00f7": "/",
}

# The closing quote of a string, by its opening quote in other languages.
CLOSING_QUOTES = {
    "'": "'",
    "\u2018": "\u2019",
    "\u201c": "\u201d",
    "`": "`",
    "\u201e": "\u201c",
    "\u00ab": "\u00bb",
}
