"""The builtins that read and write files.

`saftc run` leaves the script's folder in the main module; there, relative paths begin in it. In a
compiled module that Python runs, they begin in the working directory.
"""

from __future__ import annotations

import os
import sys

from runtime_support.errors import CheckError, FileError
from runtime_support.quick_typing import Any
from runtime_support.values import brief, plain


def base_folder() -> str:
    """The folder that relative paths begin in."""
    main = sys.modules.get("__main__")
    return os.path.abspath(getattr(main, "__saft_folder__", ""))


def resolved(path: str) -> str:
    """The absolute path, without links in it."""
    return os.path.realpath(os.path.join(base_folder(), path))


def read_text(path: str) -> str:
    """The text of a UTF-8 file."""
    place = resolved(_text("read_text(path)", path))
    try:
        with open(place, encoding="utf-8-sig") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise FileError(f"cannot read {place}: not UTF-8 text", path=place) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"cannot read {place}: {reason}", path=place) from error


def write_text(path: str, text: str) -> None:
    """Writes a UTF-8 file, whole or not at all."""
    place = resolved(_text("write_text(path)", path))
    try:
        _replace_file(place, _text("write_text(text)", text))
    except UnicodeEncodeError as error:
        raise FileError(f"cannot write {place}: the text is not UTF-8", path=place) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"cannot write {place}: {reason}", path=place) from error


def list_files(pattern: str) -> list[str]:
    """The paths of the files that match, such as `data/*.csv` or `**/*.md`, sorted.

    They begin as the pattern does. What is hidden is left out unless the pattern names it.
    """
    import glob

    folder = base_folder()
    found = glob.glob(_text("list_files(pattern)", pattern), root_dir=folder, recursive=True)
    files = (path for path in found if os.path.isfile(os.path.join(folder, path)))
    return sorted(path.replace(os.sep, "/") for path in files)


def _text(path: str, value: Any) -> str:
    value = plain(value)
    if isinstance(value, str):
        return value
    raise CheckError(f"{path}: expected string, got {brief(value)}", path=path)


def _replace_file(path: str, text: str) -> None:
    import tempfile

    data = text.encode("utf-8")
    directory, name = os.path.split(path)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=directory)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, _mode_of(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode_of(path: str) -> int:
    """The permissions that the file has, or that a new one gets."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
