"""The value that a model's reply holds, by the schema that was asked for.

    recover('{"name": "Ada"}', schema)              Recovered({"name": "Ada"}, ())
    recover("Sure: {name: 'Ada',}", schema)         the same value, with what had to be repaired
    recover('{"name": "Ada", "born": 18', schema)   RecoveryRefused: the reply ends in the middle

A reply goes through these steps, and the first that gives a value ends the search:

    strict JSON (`nodes`)          the whole reply
    bodies                         without thinking; fences and prose found
    candidates (`loose`)           every object and list in it, read loosely, fitted to the schema
    other notations (`notations`)  markup, tables, YAML and bullets, separated values
    words                          a number, a bool or a member of an enumeration in plain text

Everything that reads knows no schema; `fitting` knows no text. A step that
finds several different values equally good refuses, and so does data that is cut or broken: what
cannot be told is asked again, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from runtime_support._schema import model as m
from runtime_support._values.kinds import holds_halves, is_list, is_object
from tests.support.old_reader import tokens
from tests.support.old_reader.bodies import (
    FoundValue,
    fence_contents,
    find_candidates,
    is_one_fence,
    starts_a_line,
    without_thinking,
)
from tests.support.old_reader.fitting import (
    CONTAINERS,
    NUMBERS,
    RESHAPED,
    Fit,
    Misfit,
    admits_text,
    depth,
    fit,
    is_member,
    is_notation,
    other_readings,
    same,
    two_readings,
)
from tests.support.old_reader.loose import LooseReader
from tests.support.old_reader.nodes import (
    Bare,
    Broken,
    CutOff,
    Elements,
    Node,
    NotData,
    read_strict,
)
from tests.support.old_reader.notations import (
    read_lines,
    read_markdown_tables,
    read_markup,
    read_separated_values,
)
from tests.support.old_reader.words import (
    NotANumber,
    is_item,
    is_prose,
    letters,
    number_in_prose,
    speaks_of_number,
)

MOST_NOTES = 20
LONGEST_WORDS = 20_000
# A longer reply is JSON, or it is refused: what else it may mean takes too long to find out.
LONGEST_LOOSE = 1_000_000
SCALARS = (m.ScalarSchema, m.LiteralSchema)
WHOLE_STARTS = frozenset((*tokens.CLOSERS, "("))

# Quotes written as they are inside a string or a web page, from the first bracket of the text on.
DISGUISES: tuple[tuple[re.Pattern[str], tuple[tuple[str, str], ...]], ...] = (
    (re.compile(r"[^{\[\"]*[{\[][\s{\[]*\\+\""), (('\\"', '"'), ("\\\\", "\\"))),
    (
        re.compile(r"[^{\[\"]*[{\[][\s{\[]*&quot;"),
        (("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")),
    ),
)

_ANSWER = re.compile(
    r"\b(?:(?:final |correct(?:ed)? )?(?:answer|result|version|output|json|value)|conclusion|final)"
    r"\b[\s*_]*(?:is\b|[:=])[\s*_:]*",
    re.IGNORECASE,
)
# A text in quotes whose first quote inside looks like one that ends it: `"Oslo" or "Rome"`.
_ENDS_EARLY = re.compile(
    r"(?:(?P<quote>[\"'])(?:\\.|(?!(?P=quote))[^\\])*(?<!\s)(?P=quote)(?!(?P=quote))"
    r"|“[^“”]*”|«[^«»]*»|\u2018(?:[^\u2018\u2019]|\u2019(?=\w))*\u2019)"
    r"(?!\w|[.,;:!?)\]]*\s*\Z)",
    re.DOTALL,
)
_OPEN_STRING = re.compile(r'\s*"(?:[^"\\]|\\.)*\\?\Z', re.DOTALL)


class RecoveryRefused(Exception):
    """The reply has no certain value; the message says why, with the path."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """JSON data that satisfies the schema; `repairs` is empty where the reply was just that."""

    value: Any
    repairs: tuple[str, ...]


def recover(text: str, schema: m.Schema) -> Recovered:
    """The value that the reply holds, or RecoveryRefused with the reason."""
    try:
        return _recover(text, m.resolved(schema))
    except Misfit as misfit:
        raise _refusal(misfit, schema) from None
    except Broken as broken:
        raise RecoveryRefused(str(broken)) from None
    except RecursionError:
        raise RecoveryRefused("nested too deeply") from None


def _recover(text: str, schema: m.Schema) -> Recovered:
    if text.startswith("\ufeff"):
        found = _recover(text[1:], schema)
        return Recovered(found.value, ("byte order mark removed", *found.repairs))
    strict = read_strict(text)
    is_text = m.is_scalar(schema, "string")
    if strict is not None:
        (node,) = strict
        try:
            if not is_text or not isinstance(node, (Bare, list, dict)):
                return _recovered(fit(node, schema, len(text)), ())
        except Misfit:
            if not isinstance(node, str) or isinstance(node, Bare):
                raise
            text = str(node)
    if len(text) > LONGEST_LOOSE:
        return _recovered(_fit_of_fence(text, schema), ())
    body = without_thinking(text, _names_of_fields(schema))
    thought = () if body is text else ("thinking removed",)
    if not body.strip():
        raise RecoveryRefused("the reply is empty" if not thought else "the reply is only thinking")
    if _OPEN_STRING.match(body):
        raise CutOff("a string")
    found = _text_reply(body) if is_text else _structured_reply(body, schema)
    return _recovered(found, thought)


def _text_reply(body: str) -> Fit:
    """The text itself, or the JSON string in the one fence that it is."""
    if is_one_fence(body):
        strict = read_strict(fence_contents(body)[0])
        if strict is not None and isinstance(strict[0], str) and not isinstance(strict[0], Bare):
            return Fit(strict[0], ("code fence removed",), 0)
    return Fit(body, ("plain text for a JSON string",), 0)


def _structured_reply(body: str, schema: m.Schema) -> Fit:
    misfits = _Misfits()
    undisguised = _undisguised(body)
    found = _fit_of_scalar_in_fence(body, schema, misfits) if is_one_fence(body) else None
    if found is not None:
        return found
    text_is_fine = admits_text(schema)
    candidates = _candidates(undisguised, schema)
    found = _fit_of_candidates(candidates, schema, undisguised, misfits)
    if found is not None:
        if text_is_fine and _may_be_text(found, candidates, schema, undisguised):
            raise two_readings(Bare(body.strip()), schema, "value")
        around = "code fence removed" if is_one_fence(body) else "text around the value left out"
        is_whole = len(candidates) == 1 and candidates[0].whole
        disguised = () if undisguised is body else ("escaped quotes restored",)
        return _noted(found, *disguised, *(() if is_whole else (around,)))
    if not candidates:
        found = _fit_of_scalar_in_fence(body, schema, misfits)
    # What begins like JSON is read as nothing else.
    elif any(starts_a_line(undisguised, candidate) for candidate in candidates):
        text_is_fine = False
    if text_is_fine and found is None and misfits.deepest is None:
        return _fit_of_text(body, schema)
    if found is None and not any(starts_a_line(undisguised, one) for one in candidates):
        found = None if text_is_fine else _fit_of_notations(body, schema, misfits)
    if found is None and not any(isinstance(candidate.node, dict) for candidate in candidates):
        found = None if admits_text(schema) else _fit_of_words(body, schema, misfits)
    if found is not None:
        return found
    if misfits.deepest is not None:
        raise misfits.deepest
    raise RecoveryRefused("the reply holds no JSON")


class _Misfits:
    """The deepest of the misfits, which says most: there may be many."""

    def __init__(self) -> None:
        self.deepest: Misfit | None = None

    def add(self, misfit: Misfit) -> None:
        if self.deepest is None or depth(misfit) > depth(self.deepest):
            self.deepest = misfit.with_traceback(None)


def _refusal(misfit: Misfit, schema: m.Schema) -> RecoveryRefused:
    """The refusal that tells all that is wrong, also of what could be read."""
    misfit = misfit.explained()
    return RecoveryRefused("; ".join(map(str, misfit.parts)))


def _fit_of_fence(text: str, schema: m.Schema) -> Fit:
    """The JSON that is all of the one fence of a text."""
    strict = read_strict(fence_contents(text)[0]) if is_one_fence(text) else None
    if strict is None:
        raise RecoveryRefused(
            f"the reply is not JSON, and longer than {LONGEST_LOOSE:,} characters"
        )
    return _noted(fit(strict[0], schema, len(text)), "code fence removed")


def _fit_of_scalar_in_fence(body: str, schema: m.Schema, misfits: _Misfits) -> Fit | None:
    """The JSON in the only fence of a text, when it is a single value."""
    contents = fence_contents(body)
    strict = read_strict(contents[0]) if len(contents) == 1 else None
    if strict is None or isinstance(strict[0], (dict, list)):
        return None
    around = "code fence removed" if is_one_fence(body) else "text around the value left out"
    found = _fits(strict[0], schema, len(body), misfits, around)
    return found[0] if found else None


def _may_be_text(found: Fit, candidates: list[FoundValue], schema: m.Schema, body: str) -> bool:
    """Whether what was found among words is less than they say, where they may be meant as well."""
    is_any = m.AnySchema() in m.members_of(schema)
    if is_any and any(body[: one.start].rstrip().endswith("=") for one in candidates):
        return True  # a line of code
    if all(candidate.alone for candidate in candidates):
        return False
    if is_any:
        return True
    return found.cost >= RESHAPED or any(isinstance(one.node, list) for one in candidates)


def _fit_of_text(body: str, schema: m.Schema) -> Fit:
    """Text without quotes, where it can be nothing else; or the value that it spells."""
    content = fence_contents(body)[0] if is_one_fence(body) else body
    text = Bare(content.strip())
    is_spelled = is_notation(text) or is_member(text, m.members_of(schema))
    try:
        if is_spelled:
            return _noted(fit(text, schema, len(body)), "read from plain text")
        if content is not body or _may_be_other(text, schema):
            raise two_readings(text, schema, "value")
        if not _is_prose_for_any(text, schema):
            fit(text, schema, len(body))
    except Misfit as misfit:
        reason = "the reply is not JSON: write a text in double quotes"
        nothing = ", and null where there is no value" if m.admits_nil(schema) else ""
        raise RecoveryRefused(f"{reason}{nothing} ({misfit})") from None
    return Fit(body, ("plain text for a JSON string",), 0)


def _may_be_other(text: Bare, schema: m.Schema) -> bool:
    """Whether a text without quotes may tell something else that the schema admits."""
    if len(text) > LONGEST_WORDS or "```" in text:
        return True
    if isinstance(schema, m.UnionSchema) and m.admits_nil(schema):
        return True  # there are more ways to say that there is nothing than anybody can list
    others = other_readings(schema)
    is_prose = _is_prose_for_any(text, schema)
    if not is_prose and any(one in NUMBERS for one in others) and speaks_of_number(text):
        return True
    lists = (m.ListSchema(m.AnySchema()), m.MapSchema(m.AnySchema()))
    others = lists if isinstance(schema, m.AnySchema) else others
    containers = tuple(one for one in others if isinstance(m.resolved(one), CONTAINERS))
    if not containers:
        return False
    try:
        nodes = [node for _, read in NOTATIONS for node in read(text)]
    except Broken:
        return True
    wanted = m.UnionSchema(containers)
    nodes = [node for node in nodes if not _may_be_prose(node, wanted)]
    return any(_fits(node, wanted, len(text), _Misfits()) for node in nodes)


def _is_prose_for_any(text: Bare, schema: m.Schema) -> bool:
    """Whether a text in the place of any value is too much of one to be a number or a word."""
    return isinstance(schema, m.AnySchema) and is_prose(text)


def _undisguised(body: str) -> str:
    for sign, replacements in DISGUISES:
        if sign.match(body):
            for disguise, plain in replacements:
                body = body.replace(disguise, plain)
    return body


def _candidates(body: str, schema: m.Schema) -> list[FoundValue]:
    found = find_candidates(body, are_items=isinstance(schema, m.ListSchema))
    return found or list(_whole_value(body))


def _whole_value(body: str) -> Iterator[FoundValue]:
    """A string or a tuple that is all of the body."""
    start = len(body) - len(body.lstrip())
    if body[start] not in WHOLE_STARTS or body.startswith("```", start):
        return
    closers = tokens.CLOSERS.get(body[start], "")
    if body.rstrip().endswith(tuple(closers)) and _ENDS_EARLY.match(body, start):
        raise RecoveryRefused("the reply holds several texts in quotes")
    reader = LooseReader(body, start)
    with suppress(NotData, Broken):
        node = reader.read_all()
        if body[start] == "`" and isinstance(node, str):
            # Marked as code, which is not quoting.
            node = _quoted_in_code(node) or Bare(node)
        yield FoundValue(node, start, tuple(reader.notes), alone=True, whole=True)


def _quoted_in_code(text: str) -> str | None:
    """The JSON string that is all of a text in backticks."""
    strict = read_strict(text)
    node = strict[0] if strict else None
    return node if isinstance(node, str) and not isinstance(node, Bare) else None


def _read_members(body: str) -> list[Node]:
    """An object without its braces, or with only one of them."""
    for text in ("{" + body, "{" + body.rstrip() + "}"):
        with suppress(NotData, Broken):
            node = LooseReader(text).read_all()
            if type(node) is dict:
                return [node]
    return []


def _fit_of_candidates(
    candidates: list[FoundValue], schema: m.Schema, body: str, misfits: _Misfits
) -> Fit | None:
    """The best fit of the candidates, or of all of them together where a list is asked for."""
    if not _holds_container(schema):
        candidates = [c for c in candidates if c.alone or isinstance(c.node, dict)]
    objects = [candidate for candidate in candidates if not isinstance(candidate.node, list)]
    are_items = isinstance(schema, m.ListSchema) and len(objects) > 1
    tried = [] if are_items and len(objects) == len(candidates) else candidates
    fits = [
        (candidate, found)
        for candidate in tried
        for found in _fits(candidate.node, schema, len(body), misfits, *candidate.notes)
    ]
    if are_items and not any(isinstance(candidate.node, list) for candidate, _ in fits):
        # They follow one another; none may be left out.
        nodes = [candidate.node for candidate in objects]
        notes = [note for candidate in objects for note in candidate.notes]
        words = "a list from values one after another"
        together = _fits(nodes, schema, len(body), misfits, *notes, words)
        return together[0] if together else None
    several = "the reply holds several values and does not say which one is meant"
    return _best([(candidate.start, found) for candidate, found in fits], body, several)


def _fits(node: Node, schema: m.Schema, size: int, misfits: _Misfits, *notes: str) -> list[Fit]:
    """The fit of the node, if there is one."""
    try:
        return [_noted(fit(node, schema, size), *notes)]
    except Misfit as misfit:
        misfits.add(misfit)
        return []


def _best(fits: list[tuple[int, Fit]], body: str, several: str) -> Fit | None:
    """The fit of the right shape; among several, the one after the last words `answer:`."""
    if not fits:
        return None
    shape = min(found.cost // RESHAPED for _, found in fits)
    best = [(start, found) for start, found in fits if found.cost // RESHAPED == shape]
    if not _agree(best):
        mark = max((match.end() for match in _ANSWER.finditer(body)), default=len(body))
        best = [(start, found) for start, found in best if start >= mark]
        if not best or not _agree(best):
            raise RecoveryRefused(several)
    return best[0][1]


def _agree(fits: list[tuple[int, Fit]]) -> bool:
    return all(same(found.value, fits[0][1].value) for _, found in fits[1:])


# The first is for single values too: `<answer>42</answer>`.
NOTATIONS: tuple[tuple[str, Callable[[str], list[Node]]], ...] = (
    ("read from markup", read_markup),
    ("read from a table", read_markdown_tables),
    ("read from lines of text", read_lines),
    ("read from separated values", read_separated_values),
    ("missing braces added", _read_members),
)


def _fit_of_notations(body: str, schema: m.Schema, misfits: _Misfits) -> Fit | None:
    """The value written in another notation than JSON, in a fence or in the text."""
    notations = NOTATIONS if _holds_container(schema) else NOTATIONS[:1]
    for text in (*fence_contents(body), body):
        for words, read in notations:
            nodes = read(text)
            if text is body and read is not read_markdown_tables:
                nodes = [node for node in nodes if not _may_be_prose(node, schema)]
            if read is read_separated_values and len(text.strip().splitlines()) == 2:
                # The first of two lines may be a header, or the first entry of a map.
                nodes = [] if _takes_any_keys(schema) else nodes
            fits = [
                (0, f) for node in nodes for f in _fits(node, schema, len(text), misfits, words)
            ]
            found = _best(fits, text, "the reply can be read as several values")
            if found is not None:
                return found
    return None


def _may_be_prose(node: Node, schema: m.Schema) -> bool:
    """Whether what was read as data may be no more than a sentence: `Note: the name is Ada`.

    With fields that have names it is data, and so are several entries that are not sentences.
    """
    if is_list(node):
        (only,) = node if len(node) == 1 else (None,)
        return isinstance(only, Bare) and not is_item(only)
    if not is_object(node) or isinstance(node, Elements) or not _takes_any_keys(schema):
        return False
    words = [item for item in node.values() if isinstance(item, Bare)]
    if len(node) == 1:
        return bool(words)
    return _takes_texts(schema) and not all(map(is_item, words))


def _takes_any_keys(schema: m.Schema) -> bool:
    members = [one.item if isinstance(one, m.ListSchema) else one for one in m.members_of(schema)]
    return any(isinstance(m.resolved(one), (m.MapSchema, m.AnySchema)) for one in members)


def _takes_texts(schema: m.Schema) -> bool:
    """Whether a map, or one in a list, takes any texts."""
    members = [one.item if isinstance(one, m.ListSchema) else one for one in m.members_of(schema)]
    maps = [one for one in map(m.resolved, members) if isinstance(one, m.MapSchema)]
    return any(admits_text(one.value) for one in maps) or m.AnySchema() in members


def _fit_of_words(body: str, schema: m.Schema, misfits: _Misfits) -> Fit | None:
    """A number, a bool or a member of an enumeration in plain words, or several between commas."""
    if len(body) > LONGEST_WORDS or not _admits_words(schema):
        return None
    marks = list(_ANSWER.finditer(body))
    tails = [body[marks[-1].end() :].strip().partition("\n")[0]] if marks else []
    for text in (*map(str.strip, fence_contents(body)), body.strip(), *tails):
        try:
            return _noted(_fit_word(text, schema), "read from plain text")
        except Misfit as misfit:
            misfits.add(misfit)
    return None


def _fit_word(text: str, schema: m.Schema) -> Fit:
    try:
        found = fit(Bare(text), schema, len(text))
    except Misfit:
        if not _admits_number(schema):
            raise
        try:
            number = number_in_prose(text)
        except NotANumber as unreadable:
            raise Misfit("value", str(unreadable)) from None
        return fit(Bare(number), schema, len(text))
    # Of a list, every item must be spelled out; a mention in a sentence is not a list.
    is_single = isinstance(schema, m.ListSchema) and len(found.value) == 1
    if is_single and letters(str(found.value[0])) != letters(text):
        raise Misfit("value", "the reply holds no list")
    return found


def _holds_container(schema: m.Schema) -> bool:
    return not all(isinstance(member, SCALARS) for member in m.members_of(schema))


def _admits_words(schema: m.Schema) -> bool:
    """Whether plain words may be a value: of the schema, or for each item of a list."""
    item = schema.item if isinstance(schema, m.ListSchema) else schema
    return any(isinstance(member, SCALARS) for member in m.members_of(item))


def _admits_number(schema: m.Schema) -> bool:
    return any(one in NUMBERS for one in m.members_of(schema))


def _names_of_fields(schema: m.Schema) -> set[str]:
    """The names that a tag in the reply may have as data."""
    members = [one.item if isinstance(one, m.ListSchema) else one for one in m.members_of(schema)]
    objects = [member for member in map(m.resolved, members) if isinstance(member, m.ObjectSchema)]
    return {field.name.lower() for member in objects for field in member.fields}


def _noted(found: Fit, *notes: str) -> Fit:
    return Fit(found.value, (*notes, *found.notes), found.cost)


def _recovered(found: Fit, notes: tuple[str, ...]) -> Recovered:
    if holds_halves(found.value):
        raise Broken("a text holds half of a surrogate pair")
    repairs = list(dict.fromkeys((*notes, *found.notes)))
    more = len(repairs) - MOST_NOTES
    if more > 0:
        repairs[MOST_NOTES:] = [f"and {more} more"]
    return Recovered(found.value, tuple(repairs))


__all__ = ["Recovered", "RecoveryRefused", "fence_contents", "recover", "without_thinking"]
