"""Single values as models write them: numbers, yes and no, the members of an enumeration.

    member_meant("I would say it is Blue.", ["RED", "BLUE"])       "BLUE"
    member_meant("red or blue", ["RED", "BLUE"])                   None: two are mentioned
    bool_meant("The statement is false.")                          False
    read_number("$1,200.50")                   1200.5
    read_number("85%")                         Unreadable
    number_in_prose("The answer is 42.")       42
    take_scalar(Bare("$1,200"), "int")         Taken(1200, 'read `$1,200` as 1200', cost=2)
    take_literal("red", ["RED", "BLUE"])       Taken("RED", 'read `red` as "RED"', cost=2)

A mention counts when it is the only one and nothing in its sentence takes it back. Digits are
ASCII. A percentage, a scaled number (`5k`), a range, a bound or a date is not the number that its
digits spell, so it is refused. Costs only rank: what is written as the schema has it is free, then
come other notations of the same value, then values written as another kind.
"""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tests.support.old_reader import tokens
from tests.support.old_reader.nodes import Bare, Node


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
    impossible hardly barely scarcely rarely seldom almost nearly
    """
)
# Words that change what follows right after them, and are harmless elsewhere.
TURNS = word_set(
    """
    nothing nobody none few little far anything least than doubt doubts doubtful refuse deny denies
    contrary opposite twice thrice double triple up above below
    isnt arent wasnt werent dont doesnt didnt cant wont wouldnt shouldnt couldnt
    """
)
# How many words are right before.
NEAR = 4
# Words by which a yes or a no, even one at the beginning, is only half of one.
HEDGES = word_set(
    """
    maybe perhaps possibly probably likely unlikely arguably supposedly allegedly theoretically
    technically generally usually normally typically often sometimes rarely seldom mostly partly
    partially somewhat half percent kind sort less hardly barely scarcely almost nearly both neither
    unsure uncertain unclear depends depending if unless except otherwise
    """
)

# The words that may come right before a yes or a no.
INTRODUCERS = word_set(
    """
    is was are it's that's answer answers so therefore thus hence reply conclude
    a an the clear clearly plain plainly simple simply short definite definitely absolutely
    certain certainly obviously indeed firm resounding undoubtedly completely entirely totally
    strictly quite very and as to both also result value verdict conclusion
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
# Any word of this kind. After a `yes` that leads, `no doubt` takes nothing back.
_BOOL_WORD = re.compile(r"\b(?:(?P<yes>yes|true)|(?P<no>no|false))\b", re.IGNORECASE)
_BEFORE_NOUN = re.compile(r"no\s+(?!and\b|or\b|but\b|yes\b)[^\W\d_]", re.IGNORECASE)


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
    (meant,) = said
    lead = _BOOL_LEAD.match(text)
    others = (one for one in _BOOL_WORD.finditer(text) if (one["yes"] is not None) is not meant)
    if lead is None:
        is_plain = not any(is_spoiled(text, *one.span(), HEDGES) for one in mentions)
        is_plain = is_plain and "%" not in text
        is_plain = is_plain and all(_is_introduced(text[: one.start()]) for one in mentions)
    else:
        others = (one for one in others if not _BEFORE_NOUN.match(text, one.start()))
        is_plain = HEDGES.isdisjoint(_words_around(text, *lead.span()))
    return meant if is_plain and not any(others) else None


def _is_introduced(before: str) -> bool:
    """Whether a text leads plainly to the yes or no after it: words in between may change it."""
    before = before.rstrip(_MARKUP + " \t")
    if not before or not (before[-1] in "!¬" or before[-1].isalnum()):
        return True
    words = [word.replace("’", "'").lower() for word in _WORD.findall(before)]
    if words[-1:] == ["say"]:
        return not {"i", "i'd"}.isdisjoint(words)
    return words[-1:] != [] and words[-1] in INTRODUCERS


def spelled_bool(text: str) -> bool | None:
    """The bool that the whole text is a word for."""
    word = text.strip(_AROUND).casefold()
    if word in TRUE_WORDS:
        return True
    return False if word in FALSE_WORDS else None


def is_spoiled(text: str, start: int, end: int, also: Collection[str] = ()) -> bool:
    """Whether another word in the sentence around this span leaves open what it says."""
    return any(
        word in SPOILERS or word in also or word.replace("’", "'").endswith("n't")
        for word in _words_around(text, start, end)
    ) or not TURNS.isdisjoint(_words_before(text, start)[-NEAR:])


def _words_around(text: str, start: int, end: int) -> list[str]:
    """The other words of the sentence, in lower case."""
    stop = _SENTENCE_END.search(text, end)
    after = _WORD.findall(text[end : stop.start() if stop else None])
    return _words_before(text, start) + list(map(str.lower, after))


def _words_before(text: str, start: int) -> list[str]:
    first = max((stop.end() for stop in _SENTENCE_END.finditer(text, 0, start)), default=0)
    return list(map(str.lower, _WORD.findall(text[first:start])))


def _spelled(text: str, members: Sequence[str]) -> str | None:
    stripped = text.strip(_AROUND)
    for exact in (text.strip(), stripped):
        if exact in members:
            return exact
    wanted = letters(text)
    found = [member for member in members if wanted and letters(member) == wanted]
    return found[0] if len(found) == 1 else None


def _mentioned(text: str, members: Sequence[str]) -> str | None:
    """The only member that is in the text as separate words."""
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


_EXPONENT = r"(?:[eE][+-]?[0-9]{1,3})?"
_GAP = "[, _'’\u00a0\u2009\u202f]"


def _without(separators: str) -> Callable[[str], str]:
    return lambda digits: re.sub(separators, "", digits)


def _european(digits: str) -> str:
    return re.sub("[. '’\u00a0\u2009\u202f]", "", digits).replace(",", ".")


def _ratio(digits: str) -> str:
    """`1/5` as decimal digits, exact where it comes out even."""
    above, below = (int(part) for part in digits.split("/"))
    return str(above // below) if above % below == 0 else repr(above / below)


# The forms of an unsigned number, the first that matches all of it counts; each with what makes
# plain digits of it. A comma before three digits groups thousands, any other is a decimal comma.
NUMBER_FORMS: tuple[tuple[str, Callable[[str], str]], ...] = (
    (rf"(?:[0-9]+\.?[0-9]*|\.[0-9]+){_EXPONENT}", str),
    (
        rf"[1-9][0-9]{{0,2}}(?P<gap>{_GAP})[0-9]{{3}}(?:(?P=gap)[0-9]{{3}})*(?:\.[0-9]+)?",
        _without(_GAP),
    ),
    (r"[1-9][0-9]{0,2}(?:_[0-9]{3})+|[0-9]+(?:_[0-9]+)+", _without("_")),
    (r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?", _without(",")),
    (r"[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}", _european),
    (
        r"[1-9][0-9]{0,2}(?P<point>[. '’\u00a0\u2009\u202f])[0-9]{3}(?:(?P=point)[0-9]{3})*,[0-9]+",
        _european,
    ),
    (r"[0-9]+,[0-9]+", _european),
    (r"[0-9]{1,15}\s*/\s*[1-9][0-9]{0,14}", _ratio),
)

_FORMS = tuple((re.compile(pattern), plain) for pattern, plain in NUMBER_FORMS)

# A fraction of three digits, where none is usual: a point between thousands, as likely.
_THREE_DECIMALS = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}\.?")
_MAY_BE_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}\.000\.?")

_CURRENCY = (
    r"(?:(?:US|C|A|NZ|HK)?\$|[€£¥₹₽₩₺₿¢]|Rs\.?|kr\.?|USD|EUR|GBP|JPY|CHF|CNY|RMB|INR|AUD|CAD|NZD|"
    r"SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|SGD|HKD|TRY|ILS|RUB|UAH)"
)
_IS_MONEY = re.compile(_CURRENCY)
_ABOUT = r"(?i:[~≈]|about|around|roughly|approximately|approx\.?|circa|ca\.|c\.)"
_DIGITS = r"[0-9.](?:[0-9.,_'’ \u00a0\u2009\u202f/]*[0-9])?\.?"
_AFFIXED = re.compile(
    rf"(?:{_ABOUT}\s*)?(?P<sign>[+\-−–]?)\s*(?:{_CURRENCY}\s*)?(?P<sign_inside>[-−]?)"
    rf"(?P<digits>{_DIGITS}{_EXPONENT})\s*(?P<unit>[^\s0-9][^0-9]*)?"
)
_UNIT = re.compile(
    r"(?:[$€£¥₹₽₩₺₿¢°µμΩ]|°?[^\W\d_]+[²³]?)(?:[/·*.]?[^\W\d_]+[²³.]?)?(?:[ -][^\W\d_]+){0,2}\.?"
)

# Words and signs after a number that change what it says.
NOT_UNITS = word_set(
    """
    percent percentage pct per percentile permille ppm pp k K M B T G bn mn mm. tn mio mrd
    thousand million millions billion billions trillion lakh crore hundred hundreds
    thousands dozen dozens half quarter quarters third thirds fifth tenth st nd rd th e E x
    squared cubed below or and to plus minus more less fewer times out of if than
    """
)

_IN_PROSE = re.compile(
    rf"(?<![\w.,:/\-−–+^#])(?:{_CURRENCY}\s?)?[-−+]?(?:{_CURRENCY}\s?)?"
    rf"[0-9](?:[0-9.,_'’/]*[0-9])?{_EXPONENT}(?![0-9])"
)
_AFTER_IN_PROSE = re.compile(r"\s?(?P<word>[^\W\d_]+|[^\s\w.,;:!?)\]}*`\"'$])|-\w|(?P<attached>\w)")

_BOUNDS = frozenset("<>≤≥±×≠")

NUMBER_WORDS = word_set(
    """
    zero two three four five six seven eight nine ten eleven twelve hundred thousand million
    billion dozen half quarter thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty
    thirty forty fifty sixty seventy eighty ninety hundreds thousands millions dozens trillion
    minus negative between least most than over under percent
    """
)


class NotANumber(Exception):
    """The text is not one number; the reason is for the model to read."""


def read_number(text: str) -> int | float:
    """The number that the whole text is: an int where it is whole."""
    return _value(read_digits(text))


def read_digits(text: str) -> str:
    """The number that the whole text is, in plain digits, as many as it was written with."""
    match = _AFFIXED.fullmatch(without_markup(text))
    if match is None:
        raise NotANumber("not a number")
    unit: str = match["unit"] or ""
    if unit and not _is_unit(unit.strip()):
        raise NotANumber(f"`{unit.strip()}` changes the number")
    if match["sign"] and match["sign_inside"]:
        raise NotANumber("two signs")
    if _IS_MONEY.search(match[0]) and _THREE_DECIMALS.fullmatch(match["digits"]):
        raise NotANumber(f"`{match['digits']}` may be in thousands")
    digits = _plain_digits(match["digits"])
    negative = (match["sign"] + match["sign_inside"]) in {"-", "−", "–"}
    return f"-{digits}" if negative else digits


def number_in_prose(text: str) -> int | float:
    """The only number that the text speaks of."""
    matches = list(_IN_PROSE.finditer(text))
    if len(matches) != 1:
        raise NotANumber(
            "the text holds several numbers" if matches else "the text holds no number"
        )
    match = matches[0]
    if text[: match.start()].rstrip(" \t=")[-1:] in _BOUNDS:
        raise NotANumber("the text gives a bound, not a number")
    if any(character.isnumeric() for character in text[: match.start()] + text[match.end() :]):
        raise NotANumber("the text holds several numbers")
    if is_spoiled(text, match.start(), match.end(), NUMBER_WORDS):
        raise NotANumber("the text does not say plainly what the number is")
    after = _AFTER_IN_PROSE.match(text, match.end())
    if after and (after["word"] is None or _changes(after["word"])):
        raise NotANumber(f"`{after.group().strip()}` changes the number")
    word = after["word"] if after else ""
    is_money = _IS_MONEY.search(f"{match.group()} {word}")
    digits = match.group().lstrip("-−+")
    if (_THREE_DECIMALS if is_money else _MAY_BE_THOUSANDS).fullmatch(digits):
        raise NotANumber(f"`{digits}` may be in thousands")
    return read_number(match.group())


def speaks_of_number(text: str) -> bool:
    """Whether a text has digits, or words for numbers."""
    words = [word.lower() for word in _WORD.findall(text)]
    is_one = words in (["one"], ["a", "couple"])
    return is_one or any(map(str.isnumeric, text)) or not NUMBER_WORDS.isdisjoint(words)


def _is_unit(unit: str) -> bool:
    if _UNIT.fullmatch(unit) is None or unit[0].isnumeric():
        return False
    words = re.findall(r"[^\W\d_]+", unit)
    return not any(_changes(word) for word in words)


def _changes(word: str) -> bool:
    return (
        word in NOT_UNITS
        or (len(word) > 1 and word.lower() in NOT_UNITS)
        or (not word.isalnum() and word not in "$€£¥₹₽₩₺₿¢°")
    )


def _plain_digits(digits: str) -> str:
    text = digits.rstrip(".") if digits.count(".") == 1 and digits.endswith(".") else digits
    for form, plain in _FORMS:
        if form.fullmatch(text):
            return plain(text)
    raise NotANumber("not a number")


def _value(digits: str) -> int | float:
    if digits.removeprefix("-").isdecimal():
        try:
            return int(digits)
        except ValueError:
            raise NotANumber("a number of too many digits") from None
    from decimal import Decimal

    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise NotANumber("a number too large")
    exact = Decimal(digits)
    whole = exact == exact.to_integral_value() if exact.adjusted() < 400 else False
    return int(exact) if whole else number


AskedKind: TypeAlias = Literal["int", "float", "number", "bool", "string", "nil", "any"]

NIL_WORDS = frozenset({"null", "none", "nil", "undefined", "~", ""})
# What is written where there is no answer: neither nil nor, without quotes, a text that was meant.
NO_ANSWERS = word_set(
    """
    no na n/a nothing unknown unspecified unavailable unanswerable missing empty blank tbd - -- – —
    """
)
NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity"})

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")

# A text longer than this is not an answer of one word, whatever it mentions.
LONGEST_MENTION = 2_000
LONGEST_ITEM = 200


_ENDS_SENTENCE = re.compile(r"[.!?…]['\"”’)]*\Z")
_INNER_SENTENCE = re.compile(r"[^\W\d_]{3,}[.!?]\s+[^\W\d_]")


def is_nil_word(text: str) -> bool:
    """Whether the text is a word for nil, whatever signs are around it."""
    word = text.strip(_AROUND).casefold()
    return word in NIL_WORDS if word else text.casefold() in NIL_WORDS


def may_say_nothing(text: str) -> bool:
    """Whether a text without quotes may tell that there is no answer, instead of being one."""
    if text.strip(_AROUND).casefold() in NO_ANSWERS or is_nil_word(text):
        return True
    words = map(str.lower, _WORD.findall(text))
    return any(
        word in SPOILERS or word in _NIL_MENTIONS or word.replace("’", "'").endswith("n't")
        for word in words
    )


_NIL_MENTIONS = NIL_WORDS - {"~", ""}


def is_prose(text: str) -> bool:
    """Whether a text is several sentences, and longer than an answer in one word or number."""
    return len(text) > LONGEST_ITEM and _INNER_SENTENCE.search(text) is not None


def is_item(text: str) -> bool:
    """Whether a text may be the only item of a list of texts: a sentence is none."""
    if len(text) > LONGEST_ITEM or may_say_nothing(text):
        return False
    is_sentence = _ENDS_SENTENCE.search(text) is not None and len(text.split()) > 2
    return not is_sentence and _INNER_SENTENCE.search(text) is None


@dataclass(frozen=True, slots=True)
class Scalar:
    """The value of a scalar; `words` tell what was done to it, empty when that needs no telling."""

    value: Any
    words: str = ""
    cost: int = 0


def take_scalar(node: Node, kind: AskedKind) -> Scalar | None:
    """The node as this kind of value, or None."""
    return _TAKERS[kind](node)


def take_literal(node: Node, values: list[Any]) -> Scalar | None:
    """The one of the values that the node is, spells or plainly mentions, or None."""
    if not isinstance(node, str):
        same = [value for value in values if type(value) is type(node) and value == node]
        return Scalar(same[0]) if same else None
    strings = [value for value in values if isinstance(value, str)]
    if node in strings:
        return Scalar(str(node), cost=1 if isinstance(node, Bare) else 0)
    found = _literals_of_text(node, values, strings)
    if len(found) != 1:
        return None
    number = isinstance(node, Bare) and tokens.JSON_NUMBER.fullmatch(node)
    if number and not isinstance(found[0], (str, bool)):
        return Scalar(found[0])
    return Scalar(found[0], read_as(node, found[0]), 2)


def _literals_of_text(text: str, values: list[Any], strings: list[str]) -> list[Any]:
    reading = member_meant if len(text) <= LONGEST_MENTION else spelled_member
    member = reading(str(text), strings)
    found: list[Any] = [] if member is None else [member]
    number = _number(text)
    word = spelled_bool(text)
    for value in values:
        if isinstance(value, bool):
            found += [value] if value is word else []
        elif isinstance(value, (int, float)):
            found += [value] if value == number else []
        elif value is None and isinstance(text, Bare) and is_nil_word(text):
            found.append(value)
    return found


def _number(text: str) -> int | float | None:
    try:
        return read_number(text)
    except NotANumber:
        return None


def _take_int(node: Node) -> Scalar | None:
    number = _take_number(node)
    is_json = isinstance(node, Bare) and tokens.JSON_NUMBER.fullmatch(node) is not None
    if isinstance(node, str) and number is not None and not is_json:
        match = _AFFIXED.fullmatch(without_markup(node))
        if match is not None and _MAY_BE_THOUSANDS.fullmatch(match["digits"]):
            return None
    if number is None or isinstance(number.value, int):
        return number
    return None


def _take_float(node: Node) -> Scalar | None:
    number = _take_number(node)
    if number is None or isinstance(number.value, float):
        return number
    try:
        value = float(number.value)
    except OverflowError:
        return None
    in_json = isinstance(node, Bare) and tokens.JSON_NUMBER.fullmatch(node)
    if not in_json:
        return Scalar(value, number.words, number.cost)
    return Scalar(value, cost=1 if node.lstrip("-").isdigit() else 0)


def _take_number(node: Node) -> Scalar | None:
    """A number; whole numbers as ints, however they are written."""
    if not isinstance(node, str) or len(node) > LONGEST_MENTION:
        return None
    if isinstance(node, Bare) and _INTEGER.fullmatch(node):
        return Scalar(int(node))
    value = _number(node)
    if value is None:
        return None
    if not isinstance(node, Bare):
        return Scalar(value, read_as(node, value), 3)
    if tokens.JSON_NUMBER.fullmatch(node) is None:
        return Scalar(value, read_as(node, value), 2)
    if isinstance(value, float) or node.lstrip("-").isdigit():
        return Scalar(value)
    return Scalar(value, read_as(node, value), 1)


def _take_bool(node: Node) -> Scalar | None:
    if isinstance(node, bool):
        return Scalar(node)
    if not isinstance(node, str) or len(node) > LONGEST_MENTION:
        return None
    value = {"0": False, "1": True}.get(node, bool_meant(node))
    return None if value is None else Scalar(value, read_as(node, value), 3)


def _take_string(node: Node) -> Scalar | None:
    if isinstance(node, bool):
        word = "true" if node else "false"
        return Scalar(word, read_as(Bare(word), word), 5)
    if not isinstance(node, str):
        return None
    if not isinstance(node, Bare):
        return Scalar(node)
    if is_nil_word(node) or tokens.PLACEHOLDER.fullmatch(node):
        return None
    number = tokens.JSON_NUMBER.fullmatch(node)
    return Scalar(str(node), read_as(node, str(node)) if number else "", 4)


def _take_nil(node: Node) -> Scalar | None:
    if node is None:
        return Scalar(None)
    if isinstance(node, Bare) and is_nil_word(node):
        return Scalar(None, read_as(node, None), 2)
    return None


def _take_any(node: Node) -> Scalar | None:
    if not isinstance(node, Bare):
        return Scalar(node) if node is None or isinstance(node, (bool, str)) else None
    if tokens.JSON_NUMBER.fullmatch(node):
        try:
            value = float(node) if set(node) & set(".eE") else int(node)
        except ValueError:
            return None
        return None if value in (float("inf"), float("-inf")) else Scalar(value)
    if node in NOT_FINITE:
        return None
    if node in tokens.COMPLETE_WORDS:
        return Scalar({"True": True, "False": False, "None": None}[node], cost=2)
    if is_nil_word(node):
        return Scalar(None, read_as(node, None), 2)
    return Scalar(str(node), cost=2)


_TAKERS: dict[AskedKind, Callable[[Node], Scalar | None]] = {
    "int": _take_int,
    "float": _take_float,
    "number": _take_float,
    "bool": _take_bool,
    "string": _take_string,
    "nil": _take_nil,
    "any": _take_any,
}


def read_as(node: str, value: Any) -> str:
    import json

    shown = node if len(node) <= 40 else f"{node[:40]}..."
    return f"read `{shown}` as {json.dumps(value, ensure_ascii=False)}"
