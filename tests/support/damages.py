"""Values written as JSON, and damaged in the ways of models: what is read has to be the value.

    case = damaged(random.Random(1))
    case.type_, case.text, case.value, case.kind

Each kind of damage is one that the reader's rules name, or one that they leave to the model.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple


@dataclass(frozen=True)
class Note:
    kind: Literal["low", "high", "very high"]
    text: str
    count: int
    price: float
    tags: list[str]
    done: bool
    comment: str | None = None


class Damaged(NamedTuple):
    """A text, the value that it was, and what was done to it."""

    kind: str
    type_: Any
    text: str
    value: Any


TEXTS = [
    *("hello world", "see a: b, c: d", "Oslo, Norway", "f(x: int, y: str)", "10:30, then 11:45"),
    *("it's fine", "don't, can't: won't", 'he said "no", and left', 'say "hi"', "a/b, c/d", "50%"),
    *("x = 1, y = 2", "comment: none", "http://x.y/z, ok", "1, 2, 3", "count: 7", "tags: [a]"),
    *("yes; no", "C# or F#", "a // b", "a # b", "/* no */", "true, false", "null", "{curly}"),
    *("[square], more", "2026-01-31, 09:30", "Dr. No, M.D.", "line one\nline two", "-", ""),
    *("ends with comma,", "(a, b: c)", "$5, 10 more: yes", "emoji 😀, x: y", "“smart”, x: y"),
    *("tab\there: x", "back\\slash, q: r", 'f("x")', 'x = {"a": 1}', '5" pipe', "``` code ```"),
    *('"Oslo" or "Rome"', "key: value\ncomment: x", "...", "and so on …", "<think>", "I'm 5' tall"),
]


def damaged(random_: random.Random) -> Damaged:
    """A value, damaged in a way that was chosen at random."""
    kind = random_.choice(list(KINDS))
    is_list = random_.random() < 0.3
    value = [_note(random_) for _ in range(random_.randint(1, 3))] if is_list else _note(random_)
    data = [asdict(one) for one in value] if isinstance(value, list) else asdict(value)
    text = KINDS[kind](data, random_)
    return Damaged(kind, list[Note] if is_list else Note, text, value)


def _note(random_: random.Random) -> Note:
    return Note(
        random_.choice(["low", "high", "very high"]),
        random_.choice(TEXTS),
        random_.choice([0, 7, -3, 1000, 1234567]),
        random_.choice([0.5, 12.345, -7.0, 1234.5]),
        [random_.choice(TEXTS) for _ in range(random_.randint(0, 3))],
        random_.random() < 0.5,
        random_.choice([None, *TEXTS]),
    )


# How a text is written


def _quoted(text: str, random_: random.Random) -> str:
    return json.dumps(text, ensure_ascii=random_.random() < 0.2)


def _in_single_quotes(text: str, _: random.Random) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("\n", "\\n").replace("\t", "\\t") + "'"


def _in_typographic_quotes(text: str, random_: random.Random) -> str:
    if any(sign in text for sign in "“”"):
        return _quoted(text, random_)
    return "“" + text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t") + "”"


def _in_back_quotes(text: str, random_: random.Random) -> str:
    return _quoted(text, random_) if "`" in text else "`" + text.replace("\\", "\\\\") + "`"


def _with_line_breaks(text: str, _: random.Random) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unescaped(text: str, _: random.Random) -> str:
    return '"' + text.replace("\\", "\\\\") + '"'


def _unquoted(text: str, _: random.Random) -> str:
    return text


def _in_triple_quotes(text: str, _: random.Random) -> str:
    return '"""' + text.replace("\\", "\\\\") + '"""'


def _always(text: str) -> Callable[[random.Random], str]:
    return lambda _: text


@dataclass(frozen=True)
class Style:
    """How data is written."""

    text: Callable[[str, random.Random], str] = _quoted
    key: Callable[[str, random.Random], str] = _quoted
    comma: Callable[[random.Random], str] = lambda random_: random_.choice([", ", ",\n  ", ","])
    last: Callable[[random.Random], str] = lambda _: ""
    words: tuple[str, str, str] = ("true", "false", "null")

    def __call__(self, data: Any, random_: random.Random) -> str:
        if isinstance(data, str):
            return self.text(data, random_)
        if data is None or isinstance(data, bool):
            return self.words[2] if data is None else self.words[0 if data else 1]
        if isinstance(data, list):
            return self._joined("[]", [self(one, random_) for one in data], random_)
        if isinstance(data, dict):
            members = [f"{self.key(k, random_)}: {self(v, random_)}" for k, v in data.items()]
            return self._joined("{}", members, random_)
        return json.dumps(data)

    def _joined(self, brackets: str, parts: list[str], random_: random.Random) -> str:
        body = parts[0] if parts else ""
        for part in parts[1:]:
            body += self.comma(random_) + part
        return brackets[0] + body + (self.last(random_) if parts else "") + brackets[1]


PLAIN = Style()
PYTHON = ("True", "False", "None")


def _around(before: str, after: str) -> Callable[[Any, random.Random], str]:
    return lambda data, random_: before + PLAIN(data, random_) + after


def _prose(data: Any, random_: random.Random) -> str:
    before = random_.choice(["Here it is:\n", "Sure! ", "The result: ", "The answer is "])
    after = random_.choice(["", "\nDone.", " Let me know!", "\n\nI hope that it helps."])
    return before + PLAIN(data, random_) + after


def _wrapped(data: Any, random_: random.Random) -> str:
    return PLAIN({random_.choice(["result", "note", "data", "Note"]): data}, random_)


def _without_comma(random_: random.Random) -> str:
    return random_.choice(["\n", "\n  "])


def _respelled(data: Any, random_: random.Random) -> str:
    def key(text: str, random_: random.Random) -> str:
        return json.dumps(random_.choice([text.upper(), text.title(), text]))

    def text(text: str, random_: random.Random) -> str:
        is_label = text in ("low", "high", "very high")
        return json.dumps(random_.choice([text.upper(), text.title()]) if is_label else text)

    return Style(text=text, key=key)(data, random_)


def _numbers_as_texts(data: Any, random_: random.Random) -> str:
    notes = data if isinstance(data, list) else [data]
    changed: list[Any] = []
    for one in notes:
        count = random_.choice([str, "{:,}".format, "{}.0".format])(one["count"])
        is_done = random_.choice([one["done"], int(one["done"]), "yes" if one["done"] else "no"])
        changed.append({**one, "count": count, "price": str(one["price"]), "done": is_done})
    return PLAIN(changed if isinstance(data, list) else changed[0], random_)


def _lines(data: Any, random_: random.Random) -> str:
    notes = data if isinstance(data, list) else [data]
    return "\n".join(json.dumps(one) for one in notes)


# What the rules name: nearly all of these have to be read.
NAMED: dict[str, Callable[[Any, random.Random], str]] = {
    "JSON": PLAIN,
    "a fence": _around("```json\n", "\n```"),
    "a fence in prose": _around("Here:\n\n```json\n", "\n```\nDone."),
    "prose": _prose,
    "thinking": _around('<think>Maybe {"kind": "low"}?</think>\n', ""),
    "a byte order mark": _around("\ufeff", ""),
    "JSON lines": _lines,
    "unquoted keys": Style(key=_unquoted),
    "single quotes": Style(text=_in_single_quotes, key=_in_single_quotes, words=PYTHON),
    "typographic quotes": Style(text=_in_typographic_quotes, key=_in_typographic_quotes),
    "back quotes": Style(text=_in_back_quotes),
    "words of Python": Style(words=PYTHON),
    "a last comma": Style(last=_always(",")),
    "double commas": Style(comma=_always(",, ")),
    "comments": Style(comma=_always(", // a remark\n"), last=_always(" /* the last */ ")),
    "missing commas": Style(comma=_without_comma, text=_quoted),
    "line breaks in texts": Style(text=_with_line_breaks),
    "quotes without a backslash": Style(text=_unescaped),
    "one level too many": _wrapped,
    "keys and labels in another spelling": _respelled,
    "numbers and bools as texts": _numbers_as_texts,
    "a bracket too many": _around("", "}"),
}
# What they do not name: asked again, if it is not read rightly by chance.
OTHERS: dict[str, Callable[[Any, random.Random], str]] = {
    "text without quotes": Style(text=_unquoted),
    "triple quotes": Style(text=_in_triple_quotes),
    "a bracket that is missing": lambda data, random_: PLAIN(data, random_)[:-1],
    "cut": lambda data, random_: (text := PLAIN(data, random_))[: random_.randrange(len(text))],
    "all without quotes": Style(text=_unquoted, key=_unquoted),
    "a sign left out": lambda data, random_: _without_a_sign(PLAIN(data, random_), random_),
}
KINDS = {**NAMED, **OTHERS}


def _without_a_sign(text: str, random_: random.Random) -> str:
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', lambda one: f'"{"x" * (len(one[0]) - 2)}"', text)
    at = random_.choice([at for at, sign in enumerate(outside) if sign in '{}[]":,'])
    return text[:at] + text[at + 1 :]
