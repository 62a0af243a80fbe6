"""Converts the source text of strings and prompts to values: removes indentation and escapes."""

import re

# An escape in a string: four hexadecimal digits (eight for a character that UTF-16 encodes as a
# surrogate pair), or one character.
_DIGITS = r"[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|[\da-fA-F]{4}"
ESCAPE = re.compile(rf"\\(?:u({_DIGITS})|(.)|$)", re.DOTALL | re.ASCII)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}

_PROMPT_ESCAPE = re.compile(r"\\([${}\\])")


# The characters that indent the lines of a text; other white space is part of the text.
_BLANKS = " \t"


def without_margin(text: str) -> str:
    """Returns `text` without the indentation that all its lines have in common.

    The first line does not count, as it follows the opening quotes or `$`. Lines of blanks do not
    count either, and become empty.
    """
    first, *rest = text.split("\n")
    lines = [line if line.strip(_BLANKS) else "" for line in rest]
    indents = [line[: len(line) - len(line.lstrip(_BLANKS))] for line in lines if line]
    columns = enumerate(zip(*indents, strict=False))
    shortest = min(map(len, indents), default=0)
    margin = next((i for i, blanks in columns if len(set(blanks)) > 1), shortest)
    return "\n".join([first, *(line[margin:] for line in lines)])


def dedent(text: str) -> str:
    """Returns `text` without its indentation, and without blank lines and blanks at both ends.

    `runtime_support` does the same with a template (a test compares the two), so that a text does
    not change when its code is indented differently.
    """
    return without_margin(text.lstrip(_BLANKS)).lstrip("\n").rstrip(_BLANKS + "\n")


def string_value(text: str) -> str:
    """Returns the value of a string, given the text between its quotes."""
    if "\\" not in text:
        return text
    return ESCAPE.sub(
        lambda match: _coded(match[1]) if match[1] else ESCAPES.get(match[2], ""), text
    )


def _coded(digits: str) -> str:
    units = b"".join(int(one, 16).to_bytes(2) for one in digits.split("\\u"))
    return units.decode("utf-16-be", "replace")


def is_half(digits: str | None) -> bool:
    """True if the digits of an escape encode half of a surrogate pair, which is no character."""
    return digits is not None and len(digits) == 4 and 0xD800 <= int(digits, 16) < 0xE000


def prompt_value(text: str) -> str:
    """Returns the value of a piece of a prompt's text."""
    return _PROMPT_ESCAPE.sub(r"\1", text)
