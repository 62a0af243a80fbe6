"""Messages to the user: diagnostics with colour on a terminal, and lines on standard error."""

import os
import sys
from collections.abc import Iterable
from enum import StrEnum
from io import StringIO
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from saftc.diagnostics.styled import Piece

if TYPE_CHECKING:
    from saftc.diagnostics.model import Diagnostic
    from saftc.driver import Checked
    from saftc.project.settings import Project
    from saftc.source import Source

_STYLES = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "hint": "\x1b[1;36m",
    "title": "\x1b[1m",
    "gutter": "\x1b[1;34m",
    "note": "\x1b[32m",
    "removed": "\x1b[31m",
    "added": "\x1b[32m",
}
_PLAIN = "\x1b[0m"
# The values of TERM for terminals that cannot show links.
_WITHOUT_LINKS = {"dumb", "linux", "unknown"}


class WrongUsage(Exception):
    """Raised for a wrong argument or environment variable, which the message names."""


def refuse_wrong_settings() -> "Project":
    """Checks all settings. Returns the project around the working folder.

    Raises:
        WrongUsage: A setting is misspelt or has a wrong value. The message says where.
        FileProblem: The project file cannot be read, or a compiler setting in it is wrong.
    """
    from saftc.project.settings import Project

    project = Project()
    problem = wrong_setting(project)
    if problem is not None:
        raise WrongUsage(problem)
    return project


def wrong_setting(project: "Project") -> str | None:
    """The problem with a setting of the environment, the project or the user.

    The result is None if all settings are right.

    Raises:
        FileProblem: A setting of the compiler in the project file has a wrong value.
    """
    project.check()
    from saftc.user_cache import has_settings

    # Import the runtime's settings only if a variable is set or a settings file exists.
    of_prompts = os.environ.keys() - {"SAFT_CACHE_DIR", "SAFT_NO_CACHE"}
    has_variables = any(name.startswith("SAFT_") for name in of_prompts)
    if has_variables or project.of_prompts or has_settings():
        from runtime_support._core.settings import settings_to_show
        from runtime_support.errors import ConfigError

        try:
            settings_to_show()
        except ConfigError as problem:
            return str(problem)
    return None


class Colour(StrEnum):
    """The values of `--color`, which say when diagnostics are written in colour."""

    auto = "auto"
    always = "always"
    never = "never"


class OutputOptions:
    """The output options of this command, set once from its arguments."""

    def __init__(self) -> None:
        self.is_quiet = False
        self.colour = Colour.auto


manner = OutputOptions()


def write_diagnostics(checked: "Checked", stream: TextIO) -> None:
    """Writes the diagnostics of a script that is run or imported to `stream`."""
    write_found(checked.when_used, checked.source, stream)


def write_found(
    found: Iterable["Diagnostic"], source: "Source", stream: TextIO, before: str = ""
) -> None:
    """Writes diagnostics of a script to `stream`, fitted to the width of a terminal."""
    from saftc.diagnostics.render import render

    write_rendered([Piece(before), *render(found, source, width_of(stream))], stream)


def write_rendered(pieces: Iterable[Piece], stream: TextIO) -> None:
    """Writes rendered diagnostics to `stream`, in colour and with links on a terminal."""
    is_coloured, is_linked = _has_colour(stream), _has_links(stream)
    written: list[str] = []
    for style, group in groupby(pieces, key=attrgetter("style")):
        text = "".join(_linked(piece) if is_linked else visible(piece.text) for piece in group)
        has_style = is_coloured and style and text
        written.append(f"{_STYLES[style]}{text}{_PLAIN}" if has_style else text)
    # In one call, so that output of other threads and processes does not come in between.
    print("".join(written), file=stream, end="")


def width_of(stream: TextIO) -> int | None:
    """The number of columns of a terminal, or 80 if it is unknown.

    The result is None if `stream` is not a terminal.
    """
    try:
        return (os.get_terminal_size(stream.fileno()).columns or 80) if stream.isatty() else None
    except OSError:
        return None


def write_result(text: str) -> None:
    """Writes the command's result to standard output, always in UTF-8.

    At a terminal, control characters are escaped. Elsewhere, the text is written unchanged.
    """
    if sys.stdout.isatty():
        text = visible(text)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", errors="surrogateescape"))
    sys.stdout.buffer.flush()


def difference(existing: str | None, text: str, name: str, made: str) -> str:
    """The unified diff from the text of the file `name` to a new text.

    `made` says in the diff's header how the new text was made, for example "fixed".
    """
    import difflib

    lines = difflib.unified_diff(
        StringIO(existing or "").readlines(),
        StringIO(text).readlines(),
        fromfile=f"{name} (on disk)",
        tofile=f"{name} ({made})",
    )
    return "".join(lines)


def show_info(text: str) -> None:
    """Writes a line about progress to standard error, unless the command is quiet."""
    if not manner.is_quiet:
        print(visible(text), file=sys.stderr)


def show_error(text: str) -> None:
    """Writes a line about a problem with a file or the command to standard error."""
    print(f"saftc: {visible(text)}", file=sys.stderr)


def visible(text: str) -> str:
    """The text with its control characters escaped, except for line ends and tabs.

    File names, values and models' texts can contain control characters.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    from runtime_support.errors import printable

    return printable(text.replace("\r\n", "\n"))


def _has_colour(stream: TextIO) -> bool:
    match manner.colour:
        case Colour.always:
            return True
        case Colour.never:
            return False
        case Colour.auto:
            if os.environ.get("NO_COLOR"):
                return False
            is_wanted = stream.isatty() and os.environ.get("TERM") != "dumb"
            return bool(os.environ.get("FORCE_COLOR")) or is_wanted


def _has_links(stream: TextIO) -> bool:
    """Whether diagnostic codes and places are written as links.

    FORCE_HYPERLINK decides if it is set. Otherwise they are links on terminals with colour, except
    for terminals that are known to show no links.
    """
    if forced := os.environ.get("FORCE_HYPERLINK"):
        return forced != "0"
    can = stream.isatty() and os.environ.get("TERM", "unknown") not in _WITHOUT_LINKS
    return can and _has_colour(stream)


def _linked(piece: Piece) -> str:
    """Returns a diagnostic code as a link to its page, or a place as a link to its file.

    Other text is returned unchanged.
    """
    from saftc.diagnostics.catalogue import address_of_page

    text = visible(piece.text)
    match piece.link:
        case "code":
            return _link(address_of_page(text), text)
        case "place":
            name, line, _ = piece.text.rsplit(":", 2)
            path = Path(name).absolute()
            return _link(f"{path.as_uri()}#{line}", text) if path.is_file() else text
        case _:
            return text


def _link(address: str, text: str) -> str:
    """A text that links to an address, in the escape sequence of terminals (OSC 8)."""
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def warn_of_name(module: str, file: str, package: str) -> bool:
    """Warns if the module of the script `file` has a name that would hide another module.

    Returns whether it warned.
    """
    from saftc.project.finder import clash

    wrong = clash(module, package)
    if wrong is not None:
        show_error(f"warning: {file}: {wrong[0]}; {wrong[1]}")
    return wrong is not None


def counted(number: int, what: str) -> str:
    """A number with its noun, such as `1 file` or `2,000 files`."""
    return f"{number:,} {what}{'s' if number != 1 else ''}"
