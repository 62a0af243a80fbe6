"""What a text in a script stands for: indentation and escapes, of strings and of prompts."""

import re

# An escape in a string: four hexadecimal digits, or one character.
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.)|$)", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}

_PROMPT_ESCAPE = re.compile(r"\\([${}\\])")


def without_margin(text: str) -> str:
    """`text` without the common indentation of its lines.

    The first line, which stands behind the opening quotes or `$`, does not count for it.
    """
    first, *rest = text.split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in rest if line.strip()), default=0)
    return "\n".join([first, *(line[margin:] if line.strip() else "" for line in rest)])


def dedent(text: str) -> str:
    """`text` without the common indentation of its lines and without blank lines at both ends.

    This is what `runtime_support` does with a template, so that text stays the same when it is
    written at another depth.
    """
    first, _, rest = without_margin(text).partition("\n")
    lines = [first.lstrip(" \t"), *rest.split("\n")] if rest else [first.lstrip(" \t")]
    while lines and not lines[0].strip():
        lines.pop(0)
    return "\n".join(lines).rstrip()


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
