"""The line of a script, and the function of the script, at the place of a prompt."""

import linecache
import os
import re
from functools import lru_cache

from runtime_support._language.files import base_folder, check_regular
from runtime_support.errors import SaftError

# The first line of a function definition in a script or in Python; group 1 is the name.
_HEAD = re.compile(r"\s*(?:f|conv|(?:async\s+)?def)\s+(\w+)\s*[(\[]")


def line_at(place: str) -> str:
    """The line of the script at a place. It is empty if the script's text is not available."""
    name, number, column = _parts_of(place)
    if not number:
        return ""
    line, after = [*_lines_of(name)[number - 1 : number + 1], "", ""][:2]
    # If the line ends with the start of a multi-line text, the text's first line says more.
    rest = line[max(0, column - 1) :].rstrip()
    opens_prompt = rest.split()[-1:] == ["$"] and rest.count("$") == 1
    is_open = opens_prompt or (rest.endswith('"""') and rest.count('"""') == 1)
    return f"{line.strip()} {after.strip()}" if is_open else line.strip()


def function_at(place: str, around: str) -> str:
    """The name of the innermost function of the script that contains a place.

    `around` are the functions of the module, as in `outer.inner`. The module has other names, such
    as `class_`, and further functions that run loops ahead: the name is one in the script's text.
    Without the text, it is that of the innermost function of the module.
    """
    names, lines = around.split("."), _lines_of(_parts_of(place)[0])
    if not lines:
        return names[-1]
    written = {head[1].rstrip("_"): head[1] for head in map(_HEAD.match, lines) if head}
    found = (one.rstrip("_") for one in reversed(names))
    return next((written[one] for one in found if one in written), "")


def _parts_of(place: str) -> tuple[str, int, int]:
    """The file name, line and column of a place. A missing number is 0."""
    name, _, rest = place.partition(":")
    number, _, column = rest.partition(":")
    line, position = (int(one) if one.isdigit() else 0 for one in (number, column))
    return name, line, position


def _lines_of(name: str) -> list[str]:
    """The lines of a file, or of a script without a file.

    The list is empty if they cannot be read.
    """
    known = linecache.cache.get(name)
    if known is not None and len(known) == 4 and known[1] is None:
        return known[2]
    try:
        for folder in ("", base_folder()):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                check_regular(path)
                state = os.stat(path)
                return _lines_of_file(path, state.st_mtime_ns, state.st_size)
    except (OSError, ValueError, SaftError):
        pass  # the lines are shown to readers only
    return []


@lru_cache(maxsize=64)
def _lines_of_file(path: str, _changed: int, _size: int) -> list[str]:
    with open(path, encoding="utf-8") as file:
        return file.readlines()
