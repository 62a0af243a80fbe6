"""Reads a model's text as the value of a type, exactly or not at all.

    read_reply('```json\\n{"age": "36"}\\n```', schema)    (Person(36), ("code fence removed", ...))
    read_reply("Error 404", schema_of(int))              NotData: the reply holds no JSON
    read_text('"Hello"')                                 ("Hello", ("quotes ... removed",))
    read_arguments("{city: 'Oslo'}")                     ({"city": "Oslo"}, ("unquoted keys", ...))

docs/language-prompts.md lists the rules. `prose` finds data in text that is not JSON, `notation`
parses this data, and `fitting` converts data to the value of a schema. Every change is reported as
a repair. Text that no rule covers raises a CheckError with all mistakes.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from runtime_support._core.reader.around import without_thinking
from runtime_support._core.reader.data import Data, NotData, read_json
from runtime_support._core.reader.fitting import keys_in, read_value, shortened
from runtime_support._schema import model as m
from runtime_support._values.kinds import brief, is_object
from runtime_support.errors import CheckError

_UNQUOTED = "quotes around the text removed"

_OPEN_STRING = re.compile(r'\s*+"(?:[^"\\]|\\.)*+\\?+', re.DOTALL)


def read_reply(text: str, schema: m.Schema, name: str | None = None) -> tuple[Any, tuple[str, ...]]:
    """Returns the value in a reply, and the repairs that the reply needed.

    Raises a CheckError with all mistakes. `name` is the variable that the value is bound to.
    """
    found = _data_of(text, m.resolved(schema), name)
    value, repairs = read_value(found.value, schema, "value", name)
    return value, shortened((*found.repairs, *repairs))


def read_text(text: str) -> tuple[str, tuple[str, ...]]:
    """Returns the text of a reply, and the repairs that the reply needed.

    Removes thinking before the text, and decodes a reply that is one JSON string. Raises NotData if
    no text is left.
    """
    body = without_thinking(text, is_text=True)
    repairs = () if len(body) == len(text) else ("thinking removed",)
    body = body.lstrip() if repairs else body
    if not body.strip():
        raise NotData("the reply is only thinking" if repairs else "the reply is empty")
    if body.lstrip()[0] == '"':
        with suppress(NotData):
            return read_json(body).value, (*repairs, _UNQUOTED)
    return body, repairs


def read_arguments(
    text: str, parameters: m.Schema | None = None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Returns the arguments of a tool call as an object, and the repairs that their text needed.

    The text is read like a reply. An empty text means no arguments. Raises a CheckError if the text
    is not an object.
    """
    if text.strip() in ("", "null"):
        return {}, ()
    try:
        found = _data_of(text, m.MapSchema(m.AnySchema()), None, parameters)
        if isinstance(found.value, str):  # encoded twice
            from runtime_support._core.reader.notation import read_data

            found = read_data(found.value)
    except NotData as error:
        raise CheckError(f"the arguments are not JSON: {error.message}") from None
    if is_object(found.value):
        return found.value, found.repairs
    raise CheckError(f"the arguments have to be an object, got {brief(found.value)}")


def sent_arguments(text: str) -> Any:
    """Returns the arguments of a tool call as an object, or as text if they are unreadable."""
    try:
        return read_arguments(text)[0]
    except CheckError:
        return text


def _data_of(text: str, schema: m.Schema, name: str | None, keys: m.Schema | None = None) -> Data:
    """Returns the data in a reply that fits the schema best.

    Raises NotData if the reply holds no data, or several values that fit.
    """
    body = text.removeprefix("\ufeff")
    if m.is_scalar(schema, "string"):
        text, repairs = read_text(body)
        if _OPEN_STRING.fullmatch(text):
            raise NotData("the reply ends in the middle of a string")
        told = repairs[:-1] if _UNQUOTED in repairs else (*repairs, "plain text for a JSON string")
        return Data(text, told)
    marks = () if body == text else ("byte order mark removed",)
    with suppress(NotData):
        return Data(read_json(body).value, marks)
    from runtime_support._core.reader.prose import find_data

    return find_data(body, marks, schema, name, keys_in(keys or schema))
