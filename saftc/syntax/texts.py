"""What a text in a script stands for: indentation and escapes, of strings and of prompts."""

import re

# An escape in a string: four hexadecimal digits, or one character.
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.)|$)", re.DOTALL)
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
    value = ESCAPE.sub(
        lambda match: chr(int(match[1], 16)) if match[1] else ESCAPES.get(match[2], ""), text
    )
    # Two \u escapes may spell one character outside the basic plane.
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def prompt_value(text: str) -> str:
    """What a part of the text of a prompt stands for."""
    return _PROMPT_ESCAPE.sub(r"\1", text)
