"""What a text in a script stands for: indentation and escapes, of strings and of prompts."""

import re

# An escape in a string: four hexadecimal digits, twice for a character that UTF-16 writes as two,
# or one character.
_DIGITS = r"[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|[\da-fA-F]{4}"
ESCAPE = re.compile(rf"\\(?:u({_DIGITS})|(.)|$)", re.DOTALL | re.ASCII)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}

_PROMPT_ESCAPE = re.compile(r"\\([${}\\])")


# What the indentation of a text's lines is made of; any other blank is part of the text.
_BLANKS = " \t"


def without_margin(text: str) -> str:
    """`text` without the indentation that all its lines have in common, to the character.

    The first line, which is behind the opening quotes or `$`, does not count for it, nor do
    lines of blanks alone, which become empty.
    """
    first, *rest = text.split("\n")
    lines = [line if line.strip(_BLANKS) else "" for line in rest]
    indents = [line[: len(line) - len(line.lstrip(_BLANKS))] for line in lines if line]
    columns = enumerate(zip(*indents, strict=False))
    shortest = min(map(len, indents), default=0)
    margin = next((i for i, blanks in columns if len(set(blanks)) > 1), shortest)
    return "\n".join([first, *(line[margin:] for line in lines)])


def dedent(text: str) -> str:
    """`text` without its margin, and without blank lines and blanks at both ends.

    This is what `runtime_support` does with a template (a test compares the two), so that text
    stays the same when it is written at another depth.
    """
    return without_margin(text.lstrip(_BLANKS)).lstrip("\n").rstrip(_BLANKS + "\n")


def string_value(text: str) -> str:
    """What the inside of a string stands for."""
    if "\\" not in text:
        return text
    return ESCAPE.sub(
        lambda match: _coded(match[1]) if match[1] else ESCAPES.get(match[2], ""), text
    )


def _coded(digits: str) -> str:
    units = b"".join(int(one, 16).to_bytes(2) for one in digits.split("\\u"))
    return units.decode("utf-16-be", "replace")


def is_half(digits: str | None) -> bool:
    """Whether the digits of an escape are half of a character, and so none."""
    return digits is not None and len(digits) == 4 and 0xD800 <= int(digits, 16) < 0xE000


def prompt_value(text: str) -> str:
    """What a part of the text of a prompt stands for."""
    return _PROMPT_ESCAPE.sub(r"\1", text)
