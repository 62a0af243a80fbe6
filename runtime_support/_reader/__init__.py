"""What a model has written as the value of a type: exact, or to be asked for again.

    read_reply('```json\\n{"age": "36"}\\n```', schema)    (Person(36), ("code fence removed", ...))
    read_reply("Error 404", schema_of(int))              CheckError: the reply holds no JSON
    read_text('"Hello"')                                 ("Hello", ("quotes ... removed",))
    read_arguments("{city: 'Oslo'}")                     ({"city": "Oslo"}, ("unquoted keys", ...))

docs/language.md says what is read. Here is what stands around data: thinking, fences, prose, the
words before a number. `notation` reads data that is nearly JSON, `fitting` makes it the value of a
schema. Each change is told, and what no rule names is a CheckError with all mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Any

from runtime_support._jsontext import parse_unambiguous
from runtime_support._reader.fitting import fit, keys_in, read_value, shortened
from runtime_support._reader.notation import CUT, Data, NotData, read_data, read_data_at
from runtime_support._schema import model as m
from runtime_support._values import brief, is_list, is_object
from runtime_support.errors import CheckError

# A longer reply is JSON, or one code fence with JSON.
LONGEST = 1_000_000
LONGEST_LABEL = 200
_NEAR = 200  # how many characters of the prose around an object are looked at
_SEVERAL = "the reply holds several values and does not say which one is meant"

THINKING_TAGS = ("think", "thinking", "thought", "thoughts", "reasoning")
OPENS_THINKING = re.compile(rf"\s*+<({'|'.join(THINKING_TAGS)})>", re.IGNORECASE)
CLOSES_THINKING = re.compile(rf"</({'|'.join(THINKING_TAGS)})>", re.IGNORECASE)
_OPENS_FENCE = re.compile(r"(```|~~~)[ \t]*+[\w.+-]*+")
# What may be an object or a list in prose, and no `{name}` or `[sic]`.
_OPENS_DATA = re.compile(
    r"""\{\s*+(?:["'`“„‘‚«}]|[^\W\d_][\w-]*+\s*+:)"""
    r"""|\[\s*+(?:[{\[\]"'`“„‘‚«]|-?+[0-9]|(?:true|false|null|True|False|None)\b)"""
)
# What makes an object in prose another thing than the answer.
_DOUBT = re.compile(
    r"\b(?:not|never|cannot|wrong|incorrect|invalid|instead|example|error|sorry)\b|n['’]t\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[ \t]*+[,;]?+[ \t]*+[a-z][^.!?\n]*+")
_SENTENCE_END = re.compile(r"[.!?\n]")
_LEAD = re.compile(r"(?:the )?(?:final )?answer(?:[ \t]*+:|[ \t]++is:?+)\s*+", re.IGNORECASE)
_BULLET = re.compile(r"[-*+] (?=[^\W\d_])")
_MARKS = ("**", "__", "*", "_", "`", '"', "'", "“”", "‘’")
_CALL_TAG = re.compile(
    r"<\|?/?tool_calls?\|?>|<function_call>|\[TOOL_CALLS\]|<\|python_tag\|>|<function=|to=functions\."
    r"|```tool_code"
)
_NAME = re.compile(r"[\w.-]++")


def read_reply(
    text: str, schema: m.Schema, name: str | None = None
) -> tuple[Any, tuple[str, ...]]:
    """Returns the value that a reply holds and what was changed for it; CheckError with all that
    is wrong. `name` is what the value is bound to.
    """
    found = _find_data(text, schema, name)
    value, repairs = read_value(found.value, schema, "value", name)
    return value, shortened((*found.repairs, *repairs))


def read_text(text: str) -> tuple[str, tuple[str, ...]]:
    """Returns the text of a reply: without thinking before it, and of one JSON string what that
    holds; NotData where there is nothing.
    """
    body = without_thinking(text, is_text=True)
    repairs = () if len(body) == len(text) else ("thinking removed",)
    body = body.lstrip() if repairs else body
    if not body:
        raise NotData("the reply is only thinking" if text else "the reply is empty")
    literal = body.strip()
    if len(literal) > 1 and literal[0] == '"' == literal[-1]:
        found = _json(literal)
        if found is not None:
            return found.value, (*repairs, "quotes around the text removed")
    return body, repairs


def read_arguments(
    text: str, parameters: m.Schema | None = None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Returns the arguments of a call as an object, as replies are read; no text means none."""
    if text.strip() in ("", "null"):
        return {}, ()
    schema: m.Schema = m.MapSchema(m.AnySchema())
    try:
        found = _json(text) or _only([*_candidates(text, schema, parameters or schema)])
        if isinstance(found.value, str):
            found = read_data(found.value)
    except NotData as error:
        raise CheckError(f"the arguments are not JSON: {error.message}") from None
    if is_object(found.value):
        return found.value, found.repairs
    raise CheckError(f"the arguments have to be an object, got {brief(found.value)}")


def without_thinking(text: str, *, is_text: bool = False) -> str:
    """Returns the text behind the blocks in which a model thinks aloud before its answer.

    The tag that opens the first block may have been in the prompt, unless the answer `is_text`.
    """
    position = 0
    while (opening := OPENS_THINKING.match(text, position)) is not None:
        closing = CLOSES_THINKING.search(text, opening.end())
        position = len(text) if closing is None else closing.end()
    if position == 0 and not is_text and text.lstrip()[:1] not in ("{", "[", '"', "`"):
        closing = CLOSES_THINKING.search(text)
        position = 0 if closing is None else closing.end()
    return text[position:]


def fence_contents(text: str) -> list[str]:
    """Returns the contents of the code fences of a text."""
    return _fences(text)[0]


def find_leaked_call(text: str, tools: Collection[str], *, is_text: bool) -> str | None:
    """Returns the name of an offered tool whose call was written as text, if one was."""
    if not any(name in text for name in tools):
        return None
    body = without_thinking(text, is_text=is_text).strip()
    tag = _CALL_TAG.search(body)
    parts = [body, *fence_contents(body)] if is_text else [body]
    if tag is not None:
        named = _NAME.search(body, tag.end())
        name = "" if named is None else named[0].rpartition(".")[2]
        if name in tools and tag[0][-1] in "=.]":
            return name
        if tag[0].startswith("```"):
            return next((one for one in tools if f"{one}(" in body[tag.end() :]), None)
        parts.append(body[tag.end() :])
    for part in parts:
        for data in _data_in_vain(part, only_whole=is_text and tag is None):
            name = _called(data, tools)
            if name is not None:
                return name
    return None


def _data_in_vain(text: str, *, only_whole: bool) -> Iterator[Any]:
    """The data that is a text or, if it need not be all of it, in it."""
    if len(text) > LONGEST:
        return
    try:
        if only_whole:
            yield read_data(text).value
        else:
            yield from (found.value for _, found in _data_in(text, None))
    except NotData:
        return


def _called(data: Any, tools: Collection[str]) -> str | None:
    """The tool that data is a call of."""
    if is_list(data):
        return next(filter(None, (_called(one, tools) for one in data)), None)
    if not is_object(data):
        return None
    name = str(data.get("name")).rpartition(".")[2]
    if name in tools and ("arguments" in data or "parameters" in data):
        return name
    return _called(data.get("function"), tools) or _called(data.get("tool_calls"), tools)


def _json(text: str) -> Data | None:
    """The JSON that the whole text is, if it is."""
    try:
        return Data(parse_unambiguous(text, keeps_digits=True), (), len(text))
    except CheckError:
        return None


def _find_data(text: str, schema: m.Schema, name: str | None) -> Data:
    """The data of a reply that fits best; NotData where there is none, or more than one."""
    body, marks = (text[1:], ("byte order mark removed",)) if text[:1] == "\ufeff" else (text, ())
    if m.is_scalar(schema, "string"):
        return _text_data(body)
    found = _json(body)
    if found is None:
        thought = without_thinking(body)
        if len(thought) < len(body):
            marks, body = (*marks, "thinking removed"), thought
        if not body.strip():
            raise NotData("the reply is only thinking" if marks else "the reply is empty")
        found = _best([*_candidates(body, schema, schema)], schema, name)
    return Data(found.value, (*marks, *found.repairs), found.end)


def _text_data(body: str) -> Data:
    """The text that a reply to a text is."""
    text, repairs = read_text(body)
    if not repairs and not text.strip():
        raise NotData("the reply is empty")
    if not repairs and text.lstrip()[0] == '"' and text.count('"') == 1:
        raise NotData(f"{CUT} of a string")
    return Data(text, repairs or ("plain text for a JSON string",), len(body))


def _best(found: list[Data], schema: m.Schema, name: str | None) -> Data:
    """The only one that fits; of several that do not, the one that needs least."""
    rated = [(fit(one.value, schema, "value", name).misfits, one) for one in found]
    fits = [one for misfits, one in rated if not misfits]
    if len(fits) > 1:
        raise NotData(_SEVERAL)
    return fits[0] if fits else min(rated, key=lambda one: one[0])[1]


def _only(found: list[Data]) -> Data:
    if len(found) > 1:
        raise NotData(_SEVERAL)
    return found[0]


def _candidates(body: str, schema: m.Schema, keys: m.Schema) -> Iterator[Data]:
    """What of a text may be meant: all of it, what is in its fences, the one object in its prose;
    at least one, or NotData.
    """
    is_key = keys_in(keys)
    contents, outside = _fences(body)
    around = "text around the value left out" if outside.strip() else "code fence removed"
    if len(body) > LONGEST:
        found = _json(contents[0]) if len(contents) == 1 and not outside.strip() else None
        if found is None:
            raise NotData(f"the reply is not JSON, and longer than {LONGEST:,} characters")
        yield Data(found.value, (around,), found.end)
        return
    whole = _whole(body, schema, is_key)
    if whole is not None:
        yield whole
        return
    in_fences = [whole for one in contents if (whole := _in_fence(one, schema, is_key)) is not None]
    for one in in_fences:
        yield Data(one.value, (around, *one.repairs), one.end)
    if not in_fences or (_OPENS_DATA.search(outside) and not _takes_text(schema)):
        yield from _in_prose(outside if in_fences else body, schema, is_key)


_IsKey = Callable[[str], bool] | None


def _whole(body: str, schema: m.Schema, is_key: _IsKey) -> Data | None:
    """The data that all of a text is, but for brackets too many behind it."""
    start = len(body) - len(body.lstrip())
    if _OPENS_DATA.match(body, start) is not None:
        found = read_data_at(body, start, is_key)
        rest = body[found.end :].strip()
        if not rest.strip("}] \n"):
            extra = ("stray brackets removed",) if rest else ()
            return Data(found.value, (*found.repairs, *extra), found.end)
        return None
    if body[start] != "`":  # what is marked as code has no quotes by that
        with suppress(NotData):
            return read_data(body, is_key)
    return _label(body, schema)


def _in_fence(content: str, schema: m.Schema, is_key: _IsKey) -> Data | None:
    try:
        return _whole(content, schema, is_key) or next(_in_prose(content, schema, is_key))
    except NotData:
        return None
    except IndexError:
        return None


def _in_prose(text: str, schema: m.Schema, is_key: _IsKey) -> Iterator[Data]:
    """The one object or list among words; of a list, objects that follow each other are items."""
    if _takes_text(schema):
        nothing = ", and null where there is no value" if m.admits_nil(schema) else ""
        raise NotData(f"the reply is not JSON: write a text in double quotes{nothing}")
    found = list(_data_in(text, is_key))
    if not found:
        raise NotData("the reply holds no JSON")
    start, first = found[0]
    around = () if not text[:start].strip() else ("text around the value left out",)
    if len(found) > 1:
        between = [text[one.end : at].strip() for (_, one), (at, _) in zip(found, found[1:])]
        is_lines = all(is_object(one.value) for _, one in found)
        if not (isinstance(schema, m.ListSchema) and is_lines and set(between) <= {"", ","}):
            raise NotData(_SEVERAL)
        repairs = [repair for _, one in found for repair in one.repairs]
        words = (*around, "several objects as a list", *repairs)
        yield Data([one.value for _, one in found], shortened(words), found[-1][1].end)
        return
    before = text[max(0, start - _NEAR) : start].strip()
    after = _GOES_ON.match(text, first.end, first.end + _NEAR)
    beside = _SENTENCE_END.split(before)[-1] + ("" if after is None else after[0])
    if _DOUBT.search(beside):
        raise NotData("the words beside the value do not say that it is the answer")
    yield Data(first.value, ("text around the value left out", *first.repairs), first.end)


def _data_in(text: str, is_key: _IsKey) -> Iterator[tuple[int, Data]]:
    """The objects and lists in a text, and where each begins; NotData if one of them is broken."""
    position = 0
    while (opening := _OPENS_DATA.search(text, position)) is not None:
        found = read_data_at(text, opening.start(), is_key)
        position = found.end
        if is_object(found.value) or not _is_remark(text, opening.start(), found):
            yield opening.start(), found


def _is_remark(text: str, start: int, found: Data) -> bool:
    """Whether a list is like `[1]` in a sentence, or the text of a link."""
    if text.startswith("(", found.end):
        return True
    before = text[max(0, start - _NEAR) : start].rpartition("\n")[2].strip()
    is_introduced = not before or before.endswith(":") or _LEAD.fullmatch(before + " ")
    return not is_introduced and all(isinstance(one, int | float) for one in found.value)


def _fences(text: str) -> tuple[list[str], str]:
    """The contents of the code fences, the last one closed or not, and the text outside of them."""
    contents: list[list[str]] = []
    outside: list[str] = []
    fence = ""
    for line in text.split("\n"):
        bare = line.strip()
        if not fence:
            opening = _OPENS_FENCE.fullmatch(bare)
            if opening is None:
                outside.append(line)
            else:
                fence = opening[1]
                contents.append([])
        elif bare.endswith(fence):
            contents[-1].append(bare.removesuffix(fence))
            fence = ""
        else:
            contents[-1].append(line)
    return ["\n".join(lines) for lines in contents], "\n".join(outside)


def _takes_text(schema: m.Schema) -> bool:
    """Whether words without quotes might be a value."""
    members = m.members_of(schema)
    return any(isinstance(one, m.AnySchema) or m.is_scalar(one, "string") for one in members)


def _label(body: str, schema: m.Schema) -> Data | None:
    """The label, number or bool that a short reply says in words of its own."""
    text = body.strip()
    if _takes_text(schema) or "\n" in text or len(text) > LONGEST_LABEL:
        return None
    for plain in _unmarked(text):
        is_nil = plain.casefold() in ("null", "none") and m.admits_nil(schema)
        for data in (plain, *([None] if is_nil else [])):
            found = fit(data, schema)
            if not found.misfits:
                return Data(data, ("read from plain text",), len(body))
    return None


def _unmarked(text: str) -> Iterator[str]:
    """A text, and what it is with less and less around it."""
    plain = None
    while plain != text:
        yield text
        plain, begins = text, _LEAD.match(text) or _BULLET.match(text)
        text = text.removesuffix(".") if begins is None else text[begins.end() :]
        for marks in _MARKS if text == plain else ():
            opening, closing = (marks[0], marks[-1]) if marks in ("“”", "‘’") else (marks, marks)
            inner = text.removeprefix(opening).removesuffix(closing)
            if len(inner) == len(text) - len(opening) - len(closing) and inner:
                text = inner
                break
