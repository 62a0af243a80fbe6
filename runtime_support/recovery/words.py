"""Words of a closed set, found in what a model wrote: the members of an enumeration, yes and no.

    member_meant("**High Priority**", ["HIGH_PRIORITY", "NONE"])   "HIGH_PRIORITY"
    member_meant("I would say it is Blue.", ["RED", "BLUE"])       "BLUE"
    member_meant("red or blue", ["RED", "BLUE"])                   None: two are mentioned
    bool_meant("The statement is false.")                          False

A mention counts when it is the only one and nothing in its sentence takes it back.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re
from collections.abc import Collection, Sequence


def word_set(text: str) -> frozenset[str]:
    """The words of a table that is written as text."""
    return frozenset(text.split())


def letters(text: str) -> str:
    """What two spellings of one name have in common: `schemaId`, `Schema ID`, `schema_id`."""
    return "".join(character for character in text.casefold() if character.isalnum())


# Words that leave open, or turn round, what their sentence mentions.
SPOILERS = word_set(
    """
    not no never neither nor cannot without except unless if whether either or maybe perhaps
    possibly might could unsure uncertain unclear unknown sorry unable apologize apologise
    impossible
    """
)

TRUE_WORDS = frozenset({"true", "yes", "y", "on"})
FALSE_WORDS = frozenset({"false", "no", "n", "off"})

_MARKUP = "*_`~\"'“”‘’«»„"
_AROUND = _MARKUP + " \t\r\n.,;:!()[]{}<>|"
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|\Z)|\n")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")

# `no` alone answers; `no idea` and `a false positive` do not.
_BOOL_MENTION = re.compile(
    r"(?<![\w\-])(?:(?P<yes>yes|true)|(?P<no>no|false))"
    r"(?=[\s*_`\"'”]*(?:[.,!;:)\]—–]|\Z|\n)"
    r"|\s+(?:because|as|since|given|that|in|for|when)\b)",
    re.IGNORECASE,
)
_BOOL_LEAD = re.compile(
    r"[\s*_`\"'“]*(?:(?P<yes>yes)|(?P<no>no))[\s*_`\"'”]*[.,!;:—–]", re.IGNORECASE
)


def without_markup(text: str) -> str:
    """The text without Markdown's marks and quotes around it."""
    return text.strip().strip(_MARKUP).strip()


def member_meant(text: str, members: Sequence[str]) -> str | None:
    """The member that the text is, or plainly mentions; None when it is none or several."""
    if text in members:
        return text
    return _spelled(text, members) or _mentioned(text, members)


def spelled_member(text: str, members: Sequence[str]) -> str | None:
    """The member that the whole text is, but for case, spacing and markup."""
    return text if text in members else _spelled(text, members)


def bool_meant(text: str) -> bool | None:
    """What a text answers, or None when it does not do so plainly."""
    word = spelled_bool(text)
    if word is not None:
        return word
    mentions = list(_BOOL_MENTION.finditer(text))
    said = {mention["yes"] is not None for mention in mentions}
    if len(said) != 1:
        return None
    lead = _BOOL_LEAD.match(text)
    if lead is None and any(is_spoiled(text, *mention.span()) for mention in mentions):
        return None
    return said.pop()


def spelled_bool(text: str) -> bool | None:
    """The bool that the whole text is a word for."""
    word = text.strip(_AROUND).casefold()
    if word in TRUE_WORDS:
        return True
    return False if word in FALSE_WORDS else None


def is_spoiled(text: str, start: int, end: int, also: Collection[str] = ()) -> bool:
    """Whether another word in the sentence around this span leaves open what it says."""
    first = max((stop.end() for stop in _SENTENCE_END.finditer(text, 0, start)), default=0)
    stop = _SENTENCE_END.search(text, end)
    words = _WORD.findall(text[first:start]) + _WORD.findall(
        text[end : stop.start() if stop else None]
    )
    return any(
        word in SPOILERS or word in also or word.replace("’", "'").endswith("n't")
        for word in map(str.lower, words)
    )


def _spelled(text: str, members: Sequence[str]) -> str | None:
    stripped = text.strip(_AROUND)
    for exact in (text.strip(), stripped):
        if exact in members:
            return exact
    wanted = letters(text)
    found = [member for member in members if wanted and letters(member) == wanted]
    return found[0] if len(found) == 1 else None


def _mentioned(text: str, members: Sequence[str]) -> str | None:
    """The only member that stands in the text as words of their own."""
    spans: list[tuple[int, int, str]] = []
    for member in sorted(members, key=len, reverse=True):
        for match in _mention_pattern(member).finditer(text):
            inside = any(start <= match.start() and match.end() <= end for start, end, _ in spans)
            if not inside:
                spans.append((*match.span(), member))
    mentioned = {member for _, _, member in spans}
    if len(mentioned) != 1 or any(is_spoiled(text, start, end) for start, end, _ in spans):
        return None
    return mentioned.pop()


def _mention_pattern(member: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in _PARTS.findall(member)]
    if not parts:
        return re.compile(r"(?!)")
    body = r"[\s_\-]*".join(parts)
    if len(member) == 1:
        # One letter is also a word (`a`) or a pronoun (`I`): its case and a sign after it tell.
        return re.compile(rf"(?<![\w\-'’]){body}(?=[*_`\"'”]*(?:[.,;:)\]](?![0-9])|\Z|\n))")
    return re.compile(
        rf"(?<![\w\-'’])(?<![0-9][.,]){body}(?![\w\-]|['’]\w|[.,][0-9])", re.IGNORECASE
    )
