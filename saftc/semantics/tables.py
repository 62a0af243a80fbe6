"""What is known of dataframes: their members, and which types hold one."""

from saftc.semantics.types import DATAFRAME, INT, STRING, ListType, TupleType, Type, within

# `df.height` and so on, as polars names them; `length` is Saft's word for the height.
MEMBERS_OF_TABLE: dict[str, Type] = {
    "columns": ListType(STRING),
    "height": INT,
    "length": INT,
    "shape": TupleType((INT, INT)),
    "width": INT,
}


def holds_table(type_: Type) -> bool:
    """Whether a value of `type_` may be or hold a dataframe, which has no form in JSON."""
    return DATAFRAME in within(type_)
