"""Reads scripts, and writes modules atomically."""

import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saftc.source import Source

MADE_BY_SAFTC = "# Compiled by saftc from "

# The end of the first line of a module in async form.
_ASYNC = "This is the async form."

# The arguments for scripts without a file, with the names of these scripts in messages: standard
# input, and the text after `-c`.
UNNAMED = {"-": "<stdin>", "-c": "<command>"}


class FileProblem(Exception):
    """A problem with a file that the user has to solve.

    The message names the file and the problem.
    """


def read_source(path: str) -> "Source":
    """Reads the script at `path`; `-` is standard input."""
    from saftc.source import Source

    return Source.from_bytes(shown(path), read_script(path))


def shown(path: str) -> str:
    """The name of a script in messages."""
    return UNNAMED.get(path, path)


def read_script(path: str) -> bytes:
    """Reads the bytes of the script at `path`; `-` is standard input."""
    if path.endswith(".py"):
        raise _no_script(path)
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except IsADirectoryError:
        raise FileProblem(f"{path} is a folder; name a script in it") from None
    except FileNotFoundError:
        raise FileProblem(f"there is no file {path}") from None
    except OSError as error:
        raise FileProblem(f"cannot read {path}: {error.strerror or error}") from None


def read_module(path: Path) -> str | None:
    """The text of a module written earlier; None if there is no such file."""
    try:
        return path.read_bytes().decode("utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        raise FileProblem(f"{path} is a folder; name the module in it") from None
    except OSError as error:
        raise FileProblem(f"cannot read {path}: {error.strerror or error}") from None


def scripts_below(path: str, others: Collection[str] = ()) -> list[str]:
    """The scripts that `path` names: the file itself, or all non-hidden scripts below a folder.

    If `path` is a file, its suffix may also be one of `others`.

    Raises:
        FileProblem: The folder has no scripts, or the file has another suffix.
    """
    if path in UNNAMED or not os.path.isdir(path):
        if os.path.splitext(path)[1] not in ("", ".saft", *others):
            raise _no_script(path)
        return [path]
    found: list[str] = []
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith((".", "__"))]
        found += [
            str(Path(folder, name))
            for name in names
            if name.endswith(".saft") and not name.startswith(".")
        ]
    if not found:
        raise FileProblem(f"there are no scripts in {path}")
    # Scripts that others may import come last.
    return sorted(found, key=lambda name: (len(Path(name).parts), name))


def _no_script(path: str) -> FileProblem:
    return FileProblem(f"{path} is not a script: names of scripts end with .saft")


def files_of(arguments: Sequence[str]) -> tuple[list[str], dict[str, FileProblem]]:
    """The scripts that the arguments name, and the problem with each argument that is unusable.

    The scripts also include the unusable arguments.
    """
    files: list[str] = []
    problems: dict[str, FileProblem] = {}
    for argument in arguments:
        try:
            files += scripts_below(argument)
        except FileProblem as problem:
            files.append(argument)
            problems[argument] = problem
    return files, problems


def make_folder(path: Path) -> None:
    """Creates a folder and its parents unless they exist."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileProblem(f"cannot make the folder {path}: {error.strerror or error}") from None


def is_special(path: Path) -> bool:
    """Whether `path` exists and is neither a file nor a folder: a device or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def may_overwrite(path: Path) -> bool:
    """Whether `path` does not exist or was written by saftc."""
    existing = read_module(path)
    return existing is None or existing.startswith(MADE_BY_SAFTC)


def is_async_module(text: str) -> bool:
    """Whether a module written by saftc is in async form."""
    return text.partition("\n")[0].endswith(_ASYNC)


def ships_settings(text: str) -> bool | None:
    """Whether a module written by saftc contains settings for its prompts.

    The result is None if the module has no prompts.
    """
    import ast

    imports = (one for one in ast.parse(text).body if isinstance(one, ast.ImportFrom))
    names = {one.name for node in imports if node.module == "runtime_support" for one in node.names}
    return None if names.isdisjoint({"prompt", "program"}) else "defaults" in names


def write_module(path: Path, text: str) -> None:
    """Writes `text` to `path` atomically: the old file stays until the new one is complete.

    If `path` is a symbolic link, its target is replaced.
    """
    if is_special(path):
        _write_into(path, text)
        return
    target = Path(os.path.realpath(path))
    try:
        import tempfile

        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise FileProblem(f"cannot write {path}: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise FileProblem(f"cannot write {path}: {error.strerror or error}") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _write_into(path: Path, text: str) -> None:
    try:
        with open(path, "wb") as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise FileProblem(f"cannot write {path}: {error.strerror or error}") from None


def _mode(path: Path) -> int:
    """The permissions of the file to replace, or those of a new file."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
