"""Finds data in a reply that is not JSON: in fences, in prose, as a label.

    find_data('Here it is: {"age": 36}', (), schema, None, None)       Data({"age": 36}, ...)
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

from runtime_support._core.reader.around import split_fences, without_thinking
from runtime_support._core.reader.data import Data, IsKey, NotData, read_json
from runtime_support._core.reader.fitting import fit, shortened
from runtime_support._core.reader.notation import read_data, read_data_at
from runtime_support._schema import model as m
from runtime_support._values.kinds import is_object

# A longer reply must be JSON, or one code fence with JSON.
LONGEST = 1_000_000
_SEVERAL = "the reply holds several values and does not say which one is meant"
_NEAR = 200  # longest label, and context checked around an object in prose

# The start of an object or list in prose, but not `{name}` or `[sic]`.
_OPENS_DATA = re.compile(
    r"""\{\s*+(?:["'`“„‘‚«}]|[^\W\d_][\w-]*+\s*+:)"""
    r"""|\[\s*+(?:[{\[\]"'`“„‘‚«]|-?+[0-9]|(?:true|false|null|True|False|None)\b)"""
)
# Words that make it doubtful that an object in prose is the answer, and the rest of its sentence.
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|wrong|incorrect|invalid|instead|example|error|sorry)\b|n['’]t\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[ \t]*+[,;]?+[ \t]*+[a-z][^.!?\n]*+")
_LEAD = re.compile(r"(?:the )?(?:final )?answer(?:[ \t]*+:|[ \t]++is\b:?+)\s*+", re.IGNORECASE)
_BULLET = re.compile(r"[-*+] (?=[^\W\d_])")
_MARKS = ("**", "__", "*", "_", "`", '"', "'")


def find_data(
    body: str, marks: tuple[str, ...], schema: m.Schema, name: str | None, is_key: IsKey
) -> Data:
    """Returns the data in a reply that fits the schema best.

    Raises NotData if the reply holds no data, or several values that fit.
    """
    thought = without_thinking(body)
    marks = (*marks, "thinking removed") if len(thought) < len(body) else marks
    if not thought.strip():
        raise NotData("the reply is only thinking" if body.strip() else "the reply is empty")
    rated = [
        (fit(one.value, schema, "value", name).misfits, one)
        for one in _candidates(thought, schema, is_key)
    ]
    if sum(not misfits for misfits, _ in rated) > 1:
        raise NotData(_SEVERAL)
    found = min(rated, key=lambda one: one[0])[1]
    return Data(found.value, (*marks, *found.repairs))


def data_in(text: str, is_key: IsKey = None) -> Iterator[tuple[int, Data]]:
    """Yields the start and the data of each object or list in a text.

    Raises NotData if an object or list is broken.
    """
    position = 0
    while (opening := _OPENS_DATA.search(text, position)) is not None:
        found = read_data_at(text, opening.start(), is_key)
        position = found.end
        if is_object(found.value) or not _is_remark(text, opening.start(), found):
            yield opening.start(), found


def _candidates(body: str, schema: m.Schema, is_key: IsKey) -> list[Data]:
    """Returns the data that a text may mean. Raises NotData if there is none.

    The data fills the text, fills a code fence, or is the only object or list in prose.
    """
    contents, outside = split_fences(body)
    around = "text around the value left out" if outside.strip() else "code fence removed"
    if len(body) > LONGEST:
        if len(contents) == 1 and not outside.strip():
            return [Data(read_json(contents[0]).value, (around,))]
        raise NotData(f"the reply is not JSON, and longer than {LONGEST:,} characters")
    whole = _whole(body, schema, is_key)
    if whole is not None:
        return [whole]
    found: list[Data] = []
    for content in contents:
        with suppress(NotData):
            one = _whole(content, schema, is_key) or _in_prose(content, schema, is_key)
            found.append(Data(one.value, (around, *one.repairs)))
    if found:
        with suppress(NotData):
            found.append(_in_prose(outside, schema, is_key))
        return found
    return [_in_prose(body, schema, is_key)]


def _whole(body: str, schema: m.Schema, is_key: IsKey) -> Data | None:
    """Parses all of a text as data or as a short label. Returns None if it is neither.

    Ignores surplus brackets at the end.
    """
    with suppress(NotData):
        return read_json(body)
    start = len(body) - len(body.lstrip())
    if _OPENS_DATA.match(body, start) is not None:
        found = read_data_at(body, start, is_key)
        rest = body[found.end :]
        repairs = (*found.repairs, *(("stray brackets removed",) if rest else ()))
        return None if rest.strip("}] \n") else Data(found.value, repairs)
    with suppress(NotData):
        if not body.startswith("`", start):  # backticks mark code here, not a string
            return read_data(body, is_key)
    return _label(body.strip(), schema)


def _in_prose(text: str, schema: m.Schema, is_key: IsKey) -> Data:
    """Returns the only object or list in prose. Raises NotData if there is none, or several.

    If the schema is a list, consecutive objects are the items of the list.
    """
    if _takes_text(schema):
        raise NotData("the reply is not JSON: write a text in double quotes, no value as null")
    found = list(data_in(text, is_key))
    if not found:
        raise NotData("the reply holds no JSON")
    start, first = found[0]
    around = "text around the value left out"
    if len(found) > 1:
        between = {text[one.end : at].strip() for (_, one), (at, _) in pairwise(found)}
        are_objects = all(is_object(one.value) for _, one in found)
        if not (isinstance(schema, m.ListSchema) and are_objects and between <= {"", ","}):
            raise NotData(_SEVERAL)
        repairs = [repair for _, one in found for repair in one.repairs]
        around = around if text[:start].strip() else "several objects as a list"
        return Data([one.value for _, one in found], shortened((around, *repairs)))
    sentence = re.split(r"[.!?\n]", text[max(0, start - _NEAR) : start].strip())[-1]
    rest = _GOES_ON.match(text, first.end, first.end + _NEAR)
    if _DOUBT.search(sentence if rest is None else sentence + rest[0]):
        raise NotData("the words beside the value do not say that it is the answer")
    return Data(first.value, (around, *first.repairs))


def _is_remark(text: str, start: int, found: Data) -> bool:
    """Whether a list is only a footnote mark in a sentence, such as `[1]`."""
    before = text[max(0, start - _NEAR) : start].rpartition("\n")[2].strip()
    is_introduced = not before or before.endswith(":") or _LEAD.fullmatch(before + " ")
    return not is_introduced and all(isinstance(one, int | float) for one in found.value)


def _takes_text(schema: m.Schema) -> bool:
    """Whether text without quotes might be a value of the schema."""
    members = m.members_of(schema)
    return any(isinstance(one, m.AnySchema) or m.is_scalar(one, "string") for one in members)


def _label(text: str, schema: m.Schema) -> Data | None:
    """Returns the label, number or bool that a short text consists of, or None."""
    if _takes_text(schema) or "\n" in text or len(text) > _NEAR:
        return None
    for plain in _unmarked(text):
        if not fit(plain, schema).misfits:
            return Data(plain, ("read from plain text",))
    return None


def _unmarked(text: str) -> Iterator[str]:
    """Yields a text, and then shorter versions of the text.

    Each version drops one more of these: a bullet, emphasis, a lead-in ("The answer is").
    """
    while True:
        yield text
        begins = _LEAD.match(text) or _BULLET.match(text)
        marks = (one for one in _MARKS if text.startswith(one) and text.endswith(one))
        width = 0 if begins is not None else len(next(marks, ""))
        inner = text[width : len(text) - width] if begins is None else text[begins.end() :]
        inner = inner if len(inner) < len(text) else text.removesuffix(".")
        if inner in ("", text):
            return
        text = inner
