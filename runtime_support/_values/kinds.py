"""The kinds of Saft values, and their texts.

    >>> kind([1, 2])
    'list'
    >>> show({"id": 1, "two words": None})
    '{id: 1, "two words": nil}'
    >>> brief("a long text " * 9)       # for messages
    'string "a long text a long text a long text a long text a long t...'

Saft uses Python's values: bool, int, float, str, None, list, tuple, dict. An instance of a
dataclass is a record, and any other callable is a function. Dataframes are polars dataframes, and
dates and decimals come from the standard library.

A plain prompt loads `predicates` alone, in which part of these functions are.
"""

from __future__ import annotations

from typing import Any

from runtime_support._values.names import field_name, function_name
from runtime_support._values.predicates import (
    class_name,
    has_length,
    holds_halves,
    is_approved,
    is_dataframe,
    is_dataframe_class,
    is_function,
    is_list,
    is_number,
    is_object,
    is_record,
    is_result,
    is_tuple,
    plain,
    without_halves,
)
from runtime_support.errors import CheckError, printable

# These are in `predicates`, and to be imported from here where the other kinds are needed, too.
__all__ = [
    "class_name",
    "has_length",
    "holds_halves",
    "is_approved",
    "is_dataframe",
    "is_dataframe_class",
    "is_function",
    "is_list",
    "is_number",
    "is_object",
    "is_record",
    "is_result",
    "is_tuple",
    "plain",
    "without_halves",
]

_KINDS: dict[type, str] = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "string",
    list: "list",
    tuple: "tuple",
    dict: "object",
    type(None): "nil",
}

_KEYWORDS = frozenset(
    [
        *("if", "elif", "else", "for", "in", "while", "break", "continue", "ret", "assert"),
        *("and", "or", "not", "true", "false", "nil"),
    ]
)

_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(0x20), 0x7F)} | {
    ord("\n"): "\\n",
    ord("\t"): "\\t",
    ord("\r"): "\\r",
    ord('"'): '\\"',
    ord("\\"): "\\\\",
}

BRIEF_LENGTH = 60

# By dataclass: the script name and the Python name of each field. A cache, emptied when it is full;
# two threads may write the same entry without harm.
MOST_KNOWN = 1000
known_attributes: dict[type, dict[str, str]] = {}


def is_key(value: object) -> bool:
    """True if an object may have the value as a key.

    A key is a string, a date, a datetime or an Enum member.
    """
    if isinstance(value, str) or hasattr(value.__class__, "__members__"):
        return True
    return _word_of_date(value) in ("date", "datetime")


def record_fields(record: object) -> dict[str, Any]:
    """Maps the names of a record's fields in scripts to their values, in order."""
    names = attributes_of(type(record))
    return {name: getattr(record, attribute) for name, attribute in names.items()}


def attributes_of(class_: type) -> dict[str, str]:
    """Maps the names of a dataclass's fields in scripts to their names in Python."""
    known = known_attributes.get(class_)
    if known is None:
        import dataclasses

        own: Any = class_
        names = [field.name for field in dataclasses.fields(own)]
        if len(known_attributes) >= MOST_KNOWN:
            known_attributes.clear()
        known = known_attributes[class_] = {field_name(name): name for name in names}
    return known


def _word_of_date(value: object) -> str | None:
    """Returns the name of the value's type if it is in `dates.WORDS`, or else None.

    Imports the module `dates` only when it is called.
    """
    from runtime_support._values.dates import word_of

    return word_of(value)


def data_of(value: Any) -> Any:
    """Returns the JSON data of an Enum member, a date, a NamedTuple or a pydantic model.

    Any other value is returned unchanged.
    """
    class_: Any = value.__class__
    if class_ in _KINDS or hasattr(value, "__mro__"):  # a class is not an instance of itself
        return value
    if hasattr(class_, "__members__"):
        return value.value
    from runtime_support._values.dates import text_of, word_of_class

    if word_of_class(class_) is not None:
        return text_of(value)
    if is_named_tuple(value):
        names: tuple[str, ...] = class_._fields
        return {field_name(name): item for name, item in zip(names, value, strict=True)}
    if hasattr(class_, "model_dump") and hasattr(class_, "model_fields"):
        return value.model_dump(mode="json", by_alias=True)
    return value


def is_named_tuple(value: object) -> bool:
    """True if the value is an instance of a NamedTuple."""
    return is_tuple(value) and hasattr(value, "_fields")


def kind(value: object) -> str:
    """Returns Saft's name of the value's type, as `type(x)` does in a script.

    For an Enum member or a NamedTuple, this is the name of its class, even if the value is also a
    string, a number or a tuple.
    """
    value = plain(value)
    if hasattr(type(value), "__members__") or is_named_tuple(value):
        return class_name(type(value))
    return basic_kind(value)


def basic_kind(value: object) -> str:
    """Returns Saft's name of the type that operators work with.

    For an Enum member or a NamedTuple, this is the name of a basic type if the value also has one:
    `string`, `int` or `tuple`.
    """
    value = plain(value)
    word = _KINDS.get(type(value))
    if word is not None:
        return word
    if is_record(value):
        return class_name(type(value))
    word = _word_of_date(value)
    if word is not None:
        return word
    for base, base_word in _KINDS.items():
        if isinstance(value, base):
            return base_word
    if is_dataframe(value):
        return "dataframe"
    if callable(value):
        return "function"
    return class_name(type(value))


def show(value: object) -> str:
    """Returns the text that `print` writes: a string without quotes, or a Saft literal.

    An Enum member, a NamedTuple and a pydantic model are shown as their data.
    """
    if type(value) not in _KINDS:
        value = data_of(value)
    if isinstance(value, str):
        return value
    if is_result(value):
        return show(plain(value))
    if is_dataframe(value):
        return str(value)
    try:
        return literal(value)
    except RecursionError:
        raise CheckError(f"the {kind(value)} is nested too deeply to be shown") from None
    except ValueError as error:  # an integer of thousands of digits
        reason = str(error).partition(";")[0]
        raise CheckError(f"the {kind(value)} has no text: {reason}") from None


def literal(value: object) -> str:
    """Returns the value as a Saft literal. A record becomes a constructor call with its fields."""
    if type(value) not in _KINDS:
        word = _word_of_date(value)
        if word is not None and not hasattr(type(value), "__members__"):
            return f"{word}({quote(data_of(value))})"
        value = data_of(value)
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if is_list(value):
        return "[" + ", ".join(map(literal, value)) + "]"
    if is_tuple(value):
        return "(" + ", ".join(map(literal, value)) + (",)" if len(value) == 1 else ")")
    if is_object(value):
        return "{" + ", ".join(f"{_key(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if is_record(value) and not isinstance(value, type):
        fields = ", ".join(f"{k}: {literal(v)}" for k, v in record_fields(value).items())
        return f"{class_name(type(value))}({fields})"
    if is_result(value):
        return literal(plain(value))
    if is_dataframe(value):
        rows, columns = value.shape
        return f"dataframe({rows} rows, {columns} columns)"
    if callable(value):
        return f"<function {function_name(value)}>"
    return str(value)


def quote(text: str) -> str:
    """Returns the text as a Saft string literal, in which non-ASCII characters are not escaped."""
    return f'"{text.translate(_ESCAPES)}"'


def brief(value: object) -> str:
    """Returns kind and value as a short line for messages: `string "7"`, `nil`, `list [1, ...`."""
    if value is None:
        return "nil"
    word = kind(value)
    if callable(value) and not is_record(value):
        return word if word != "function" else f"function {function_name(value)}"
    try:
        text = printable(literal(value))
    except (ValueError, RecursionError):  # an integer of thousands of digits, a cycle
        return f"a very large {word}"
    if len(text) > BRIEF_LENGTH:
        text = text[: BRIEF_LENGTH - 3] + "..."
    return text if text.startswith(f"{word}(") else f"{word} {text}"


def counted(number: int, one: str, more: str | None = None) -> str:
    """Returns a number and a noun: `1 request`, `2,000 requests`. `more` is an irregular plural.

    >>> counted(2, "entry", "entries")
    '2 entries'
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def member_path(path: str, name: str) -> str:
    """Returns the path of a field: `value.id`, `value["two words"]`."""
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{quote(name)}]"


def _key(key: object) -> str:
    if isinstance(key, str) and key.isidentifier() and key.isascii() and key not in _KEYWORDS:
        return key
    if isinstance(key, str):
        return quote(key)
    return literal(key) if _word_of_date(key) is None else f"[{literal(key)}]"


def expected_error(path: str, word: str, value: Any) -> CheckError:
    """Returns the error for a wrong argument: `upper(text): expected string, got nil`."""
    return CheckError(f"{path}: expected {word}, got {brief(value)}", path=path)
