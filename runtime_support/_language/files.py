"""The builtins that read and write files, and read standard input.

`saftc run` sets the script's folder in the main module, and relative paths start there. In a
compiled module that Python runs, relative paths start in the working directory. Only regular files
are read and written: a device or a pipe may have no end, or block for ever.
"""

from __future__ import annotations

import builtins
import os
import stat
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress

from runtime_support._core.tasks.file_order import note_read, note_write, wait_to_act
from runtime_support._language.arguments import as_text
from runtime_support._values.context import Block, current_context
from runtime_support._values.kinds import brief
from runtime_support.errors import CheckError, ConfigError, FileError

MOST_BYTES = 1_000_000_000
UNFINISHED = ".saft-"
# The permissions of files with prompts and replies: only the owner may read them.
PRIVATE = 0o600

_NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_BINARY = getattr(os, "O_BINARY", 0)


@contextmanager
def in_folder(folder: str) -> Generator[None]:
    """Resolves relative paths in this folder while the block runs."""
    with Block(folder=folder):
        yield


def base_folder() -> str:
    """The folder in which relative paths start."""
    folder = current_context().folder
    main = sys.modules.get("__main__")
    try:
        return os.path.abspath(folder or getattr(main, "__saft_folder__", ""))
    except FileNotFoundError:
        raise FileError("the working directory no longer exists", path="") from None


def resolve_path(path: str) -> str:
    """The absolute path, with all links resolved."""
    return os.path.realpath(_placed(path))


def read_text(path: str) -> str:
    """The text of a UTF-8 file."""
    place = resolve_path(as_text("read_text(path)", path))
    data = content(place, MOST_BYTES)
    if len(data) > MOST_BYTES:
        most = size_text(MOST_BYTES)
        raise FileError(f"cannot read {place}: it has more than {most}", path=place)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"cannot read {place}: not UTF-8 text", path=place) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_text(path: str, text: str) -> None:
    """Writes a UTF-8 file, whole or not at all; an existing file keeps its permissions.

    If the path is a link to a file in the same folder, that file is written. A link to another
    folder is refused.
    """
    _write("write_text", replace_file, path, text)


def append_text(path: str, text: str) -> None:
    """Appends a text to a UTF-8 file, all of it or nothing. Creates the file if it does not exist.

    Refuses the same paths as `write_text`.
    """
    _write("append_text", _append, path, text)


def _write(name: str, put: Callable[[str, bytes], None], path: str, text: str) -> None:
    """Waits until the call may have effects, then writes the text with the function `put`.

    `name` is the name of the builtin in messages.
    """
    wait_to_act()
    place, data = _to_be_written(name, path, text)
    is_new = not os.path.exists(place)
    try:
        put(place, data)
    except OSError as error:
        raise _failure("write", place, error) from error
    note_write(place, is_new)


def input_(question: str = "") -> str | None:
    """Prints the question and returns a line from standard input, or nil at its end."""
    wait_to_act()
    asked = as_text("input(question)", question)
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        return None
    try:
        line = builtins.input(asked).removesuffix("\r")
        line.encode("utf-8")
    except EOFError:
        return None
    except UnicodeDecodeError:
        raise CheckError("input: the line is not UTF-8 text") from None
    except UnicodeEncodeError as error:
        if error.object is asked:
            raise CheckError(f"input: {unwritable(error)}") from None
        raise CheckError("input: the line is not UTF-8 text") from None
    return line


# The name in compiled modules, in which `input` is Python's function.
read_line = input_


def list_files(pattern: str) -> list[str]:
    """The sorted paths of the files that match a pattern, such as `data/*.csv` or `**/*.md`.

    The paths begin like the pattern. Hidden files are left out unless the pattern names them, and
    `**` does not follow links.
    """
    given = as_text("list_files(pattern)", pattern)
    _placed(given)
    folder = "" if os.path.isabs(given) else base_folder()
    note_read(os.path.join(folder, _plain_start(given)), is_pattern=True)
    found = _matches(folder, given.replace(os.sep, "/"))
    return sorted(path for path in found if os.path.isfile(os.path.join(folder, path)))


def content(place: str, most: int) -> bytes:
    """Returns at most `most` + 1 bytes of a regular file. Raises FileError if it cannot be read."""
    note_read(place)
    try:
        check_regular(place)
        with open(place, "rb", opener=_opened) as file:
            return file.read(most + 1)
    except OSError as error:
        raise _failure("read", place, error) from error


def check_regular(place: str) -> int:
    """Returns the permissions of a file; raises OSError if it is not a regular file."""
    mode = os.stat(place).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(0, "Is a directory")
    if not stat.S_ISREG(mode):
        raise OSError(0, "it is not a regular file")
    return mode & 0o777


def replace_file(
    path: str, data: bytes, *, synced: bool = False, permissions: int = 0o666
) -> None:
    """Replaces a regular file in one step, or creates it; raises OSError if that fails.

    If `synced`, the content is on the disk when this returns. A new file gets the `permissions`, as
    far as the umask allows; an existing file keeps its own. A killed process may leave a temporary
    file in the same folder, whose name begins with UNFINISHED.
    """
    try:
        mode = check_regular(path)
    except FileNotFoundError:
        mode = None
    temporary = os.path.join(os.path.dirname(path), f"{UNFINISHED}{os.urandom(8).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
    descriptor = os.open(temporary, flags, permissions if mode is None else PRIVATE)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    if synced:
        with suppress(OSError):  # some systems cannot open folders, and need no sync of them
            folder = os.open(os.path.dirname(path), os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def check_can_write(path: str, what: str) -> None:
    """Raises ConfigError if no file can be written at this path.

    Callers check this before a request costs anything. `what` names the file in the message, as in
    "the timeline".
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        reason = "it is a folder"
    elif not os.path.isdir(folder):
        reason = f"there is no folder {os.path.dirname(path)}"
    elif not os.access(folder, os.W_OK):
        reason = f"nothing can be written in {folder}"
    else:
        return
    raise ConfigError(f"cannot write {what} {path}: {reason}", hint="name another file")


def open_private(path: str, flags: int) -> int:
    """An opener for `open`: only the owner may read a new file."""
    return os.open(path, flags, PRIVATE)


def unwritable(error: UnicodeEncodeError) -> str:
    """The reason why a text cannot be printed: its first character that has no encoding."""
    character = error.object[error.start]
    if "\ud800" <= character <= "\udfff":
        return "half of a surrogate pair is not a character"
    return f"{brief(character)} cannot be written in {error.encoding}"


def size_text(count: int) -> str:
    """A number of bytes as text: `512 bytes`, `12 kB`, `3.4 MB`."""
    if count < 1000:
        return f"{count} bytes"
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


def _placed(path: str) -> str:
    """The absolute path, with links unresolved; raises FileError if the path is invalid."""
    try:
        if "\0" in path:
            raise ValueError
        os.fsencode(path)
    except ValueError:
        raise FileError(f"{brief(path)} is not a valid path", path=path) from None
    return path if os.path.isabs(path) else os.path.join(base_folder(), path)


def _to_be_written(name: str, path: str, text: str) -> tuple[str, bytes]:
    """Returns the path and the bytes to write.

    Raises FileError if the text cannot be encoded, or if the path is a link to another folder.
    """
    named = _placed(as_text(f"{name}(path)", path))
    place = resolve_path(named)
    try:
        data = as_text(f"{name}(text)", text).encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileError(f"cannot write {place}: the text is not UTF-8", path=place) from error
    folder = os.path.realpath(os.path.dirname(named))
    if os.path.islink(named) and not place.startswith(os.path.join(folder, "")):
        problem = f"it is a link to {place}, which is in another folder"
        hint = "name that path to write there"
        raise FileError(f"cannot write {named}: {problem}", path=named, hint=hint)
    return place, data


def _append(place: str, data: bytes) -> None:
    with suppress(FileNotFoundError):
        check_regular(place)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_WAITING | _BINARY
    with open(os.open(place, flags, 0o666), "ab", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        written = 0
        try:
            while written < len(data):
                written += file.write(data[written:]) or 0
        except OSError:
            # Only our own bytes are removed: another process may have added more since.
            if file.tell() == size + written:
                file.truncate(size)
            raise


def _failure(verb: str, place: str, error: OSError) -> FileError:
    folder, hint = os.path.dirname(place), None
    if verb == "write" and isinstance(error, FileNotFoundError):
        hint = f"there is no folder {folder}; `from os import makedirs` imports what makes one"
    problem = f"cannot {verb} {place}: {error.strerror or error}"
    return FileError(problem, path=place, hint=hint)


def _opened(path: str, flags: int) -> int:
    # If the file has become a pipe since the check, opening it would block.
    return os.open(path, flags | _NO_WAITING)


def _matches(folder: str, pattern: str) -> set[str]:
    """Returns the paths that match a pattern. Unlike in `glob`, `**` follows no links."""
    import glob
    import re

    first, *others = re.split(r"(?:^|(?<=/))\*\*(?:/|$)", pattern)
    found = set(glob.glob(first, root_dir=folder)) if first or not others else {""}
    for position, part in enumerate(others, 1):
        is_last = position == len(others)
        name = part or ("*" if is_last and not pattern.endswith("/") else "")
        found = {
            path + match
            for start in found
            for path in _folders(folder, start)
            for match in (glob.glob(name, root_dir=os.path.join(folder, path)) if name else ("",))
        }
    return found


def _plain_start(pattern: str) -> str:
    """The folder that a pattern names before its first special character."""
    special = (pattern.find(character) for character in "*?[" if character in pattern)
    return os.path.dirname(pattern[: min(special, default=len(pattern))])


def _folders(folder: str, start: str) -> Iterator[str]:
    """Yields the folder `start` and all folders below it that are neither hidden nor links."""
    waiting = [start]
    while waiting:
        path = waiting.pop()
        yield path
        try:
            with os.scandir(os.path.join(folder, path)) as entries:
                waiting += [
                    f"{path}{entry.name}/"
                    for entry in entries
                    if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            continue  # not readable, or removed meanwhile
