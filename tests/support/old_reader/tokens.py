"""The small forms that loose JSON is made of, as patterns and tables."""

# ruff: noqa: RUF001  (the signs that look like others are the point)

from __future__ import annotations

import re

# What closes a string, by what opened it. Only a straight quote closes a straight quote, so that a
# cut JSON string is never taken for a complete one.
CLOSERS: dict[str, str] = {
    '"': '"',
    "'": "'",
    "`": "`",
    "“": '”“"',
    "”": '”"',
    "„": '“”"',
    "‟": '”"',
    "«": '»"',
    "»": '«"',
    "‹": "›'",
    "‘": "’‘'",
    "’": "’'",
    "‚": "‘’'",
    "‛": "’'",
    "「": "」",
    "『": "』",
    "＂": "＂",
}
OPEN_QUOTES = re.escape("".join(CLOSERS))
SMART_QUOTES = "“”„‟«»‹›‘’‚‛「」『』＂"

BRACKETS = {"{": "}", "[": "]", "(": ")"}
OPENERS = {closer: opener for opener, closer in BRACKETS.items()}

SPACE = r"[\s\u200b\u2060\ufeff]"
COLON = r"(?:=>|:=|[:：=])"
COMMAS = ",，、;；"

WHITESPACE = re.compile(f"{SPACE}+")
COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
OPEN_COMMENT = re.compile(r"/\*")
COMMENT_START = r"(?://|#|/\*)"
# In a value's place `#ff0000` is a value; a comment there has a space after its sign.
HASH_WORD = re.compile(rf"{SPACE}*(?=#[^\s!])")

QUOTED = (
    r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`"""
    rf"|[{SMART_QUOTES}][^{SMART_QUOTES}\"\n]*[{SMART_QUOTES}\"])"
)
WORD = r"[^\W\d][\w$.\- ]{0,60}?"
QUOTED_KEY = rf"{QUOTED}{SPACE}*{COLON}"
BARE_KEY = rf"{WORD}[\"']?{SPACE}*{COLON}(?!//)"
KEY = re.compile(rf"(?:(?P<quoted>{QUOTED})|(?P<bare>{WORD}|[0-9]+)[\"']?){SPACE}*{COLON}")
STARTS_KEY = re.compile(rf"{QUOTED_KEY}|{BARE_KEY}")
STARTS_QUOTED_KEY = re.compile(QUOTED_KEY)
# A key, or a part of one, at the very end of the text.
CUT_KEY = re.compile(
    rf"""(?:{QUOTED}|"(?:[^"\\]|\\.)*\\?|[{OPEN_QUOTES}][^{OPEN_QUOTES}]*|[\w$.\- ]*){SPACE}*\Z"""
)

CALL = re.compile(r"[^\W\d][\w.]*\(")
# Only a call with a named argument is taken for data inside of prose.
RECORD_CALL = re.compile(r"[^\W\d][\w.]*\((?=\s*[^\W\d]\w*\s*=(?!=))")

ELLIPSIS = re.compile(r"[\[<(]?\s*(?:\.\.\.+|…)\s*[\])>]?,?")
# Unquoted text that is a placeholder; in quotes it is data.
PLACEHOLDER = re.compile(r"<[^<>]*>|\?+|\.\.\.+|_{2,}|(?i:todo|tbd|fixme|placeholder)")
ELISION_IN_COMMENT = re.compile(
    r"\.\.\.|…|\b(?:omitted|truncated|and so on|etc|remaining|rest of|more (?:items|entries|rows)|"
    r"(?:items|entries|rows) (?:here|follow))\b",
    re.IGNORECASE,
)

JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
LOOSE_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NUMBERS_IN_A_ROW = re.compile(rf"{LOOSE_NUMBER}(?:\s+{LOOSE_NUMBER})+")
# What may be one number, its thousands apart, or several.
SPACED_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?: [0-9]{3})+(?:\.[0-9]+)?")
BEFORE_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}")
THOUSANDS = re.compile(r"0[0-9]{2}(?:\.[0-9]+)?")
WORDS_IN_A_ROW = re.compile(
    r"(?:true|false|null|True|False|None)(?:\s+(?:true|false|null|True|False|None))+"
)

JSON_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
COMPLETE_WORDS = frozenset({"true", "false", "null", "True", "False", "None"})
THINKING_MARK = re.compile(r"</?think", re.IGNORECASE)

ESCAPES = {
    '"': '"',
    "'": "'",
    "`": "`",
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "\n": "",
}
