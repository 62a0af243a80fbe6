"""Words to the user: diagnostics with colour on a terminal, and lines on standard error."""

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
# Terminals that would show the address of a link, or nothing.
_WITHOUT_LINKS = {"dumb", "linux", "unknown"}


class WrongUsage(Exception):
    """A command that cannot be meant; the text says why."""


def refuse_wrong_settings() -> "Project":
    """The project around the working folder, whose settings are those that they may be.

    Raises:
        WrongUsage: One of the surroundings is misspelt or has a wrong value; the text says where.
        FileProblem: The project file cannot be read.
    """
    from saftc.project.settings import Project

    project = Project()
    problem = wrong_setting(project)
    if problem is not None:
        raise WrongUsage(problem)
    return project


def wrong_setting(project: "Project") -> str | None:
    """What is wrong with settings of the environment, of the project, or of the user."""
    from saftc.user_cache import has_settings

    # Only where something is set need the runtime's settings be loaded.
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
    """When diagnostics are written in colour."""

    auto = "auto"
    always = "always"
    never = "never"


class OutputOptions:
    """How this command speaks: set once, by its options."""

    def __init__(self) -> None:
        self.is_quiet = False
        self.colour = Colour.auto


manner = OutputOptions()


def write_diagnostics(checked: "Checked", stream: TextIO) -> None:
    """Writes what was found in a script to `stream`, for those who use it."""
    write_found(checked.when_used, checked.source, stream)


def write_found(
    found: Iterable["Diagnostic"], source: "Source", stream: TextIO, before: str = ""
) -> None:
    """Writes diagnostics of a script to `stream`, drawn for its width if it is a terminal."""
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
    # At once: other threads and processes may write there, too.
    print("".join(written), file=stream, end="")


def width_of(stream: TextIO) -> int | None:
    """The columns of a terminal, 80 where it does not know them; None where there is none."""
    try:
        return (os.get_terminal_size(stream.fileno()).columns or 80) if stream.isatty() else None
    except OSError:
        return None


def write_result(text: str) -> None:
    """Writes what was asked for to standard output: UTF-8, whatever the terminal's encoding.

    At a terminal, what it would obey is escaped; elsewhere the text is written as it is.
    """
    if sys.stdout.isatty():
        text = visible(text)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", errors="surrogateescape"))
    sys.stdout.buffer.flush()


def difference(existing: str | None, text: str, name: str, made: str) -> str:
    """How the file `name` differs from the text that has been `made` of it, as a unified diff."""
    import difflib

    lines = difflib.unified_diff(
        StringIO(existing or "").readlines(),
        StringIO(text).readlines(),
        fromfile=f"{name} (on disk)",
        tofile=f"{name} ({made})",
    )
    return "".join(lines)


def say(text: str) -> None:
    """A line of what was done, on standard error, unless the command is to be quiet."""
    if not manner.is_quiet:
        print(visible(text), file=sys.stderr)


def complain(text: str) -> None:
    """A line of what is wrong with a file or the command, on standard error."""
    print(f"saftc: {visible(text)}", file=sys.stderr)


def visible(text: str) -> str:
    """The text with what a terminal would obey written as escapes; line ends and tabs stay.

    Names of files, values and texts of models can hold such characters.
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
    """Whether a code and a place can be clicked: where FORCE_HYPERLINK does not say, in colour on
    terminals, which pass over the links that they cannot show."""
    if forced := os.environ.get("FORCE_HYPERLINK"):
        return forced != "0"
    can = stream.isatty() and os.environ.get("TERM", "unknown") not in _WITHOUT_LINKS
    return can and _has_colour(stream)


def _linked(piece: Piece) -> str:
    """The code of a diagnostic, leading to its page, or a place, to its file; all else as it is."""
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
    """A text that leads to an address, as terminals read it (OSC 8)."""
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def warn_of_name(module: str, file: str, package: str) -> bool:
    """Tells when the module of the script `file` has a name that does harm; whether it has."""
    from saftc.project.finder import clash

    wrong = clash(module, package)
    if wrong is not None:
        complain(f"warning: {file}: {wrong[0]}; {wrong[1]}")
    return wrong is not None


def counted(number: int, what: str) -> str:
    """`1 file`, `2,000 files`."""
    return f"{number:,} {what}{'s' if number != 1 else ''}"
