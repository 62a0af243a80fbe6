"""A cache of compiled modules, so that an unchanged script is not compiled again.

    cache = Cache(cache_folder())
    cache.find("triage.saft", digest(data))     the CompiledModule of that text, or None
    cache.keep(module)

Each module is a file in the user's cache folder. The cache key, which is the name of the file, is a
digest of the script's name and content, the project's compiler settings, and the versions of saftc
and of the packages that generate code. The caller must check that the files that were read for a
module are unchanged. If the cache is damaged, unreadable or not writable, scripts are compiled
again.
"""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from saftc._version import __version__
from saftc.diagnostics.styled import Piece
from saftc.overlap.settings import DEFAULT, Overlapping
from saftc.project.files import FileProblem, shown
from saftc.user_cache import cached_files, read_cached, write_cached

# The packages that generate code: another version of one may write another text for a module.
_WRITERS = ("black", "lark", "libcst", "typeshed_client")

# The most modules in the cache; if there are more, `Cache.close` deletes the oldest quarter.
_MOST_MODULES = 4_000


class CompiledModule(NamedTuple):
    """The result of compiling a script.

    `script` is the path given to the compiler, and `source` the digest of the script's bytes.
    `reads` has the questions that the compiler asked about files and modules (see
    `Question.as_text`), with the answers. `said` has the rendered diagnostics, and `said_when_used`
    those to show when the script is run. `text` is None if the script has errors. `source_map` is
    the map for a module called `target`; both are empty if no map was requested.
    """

    script: str
    source: str
    reads: dict[str, str]
    said: Sequence[Piece]
    said_when_used: Sequence[Piece]
    text: str | None
    target: str = ""
    source_map: str = ""

    @property
    def scripts(self) -> list[str]:
        """The names of the scripts that this one imports, directly or not.

        A script comes after the scripts that it imports.
        """
        asked = ((one.partition(" "), answer) for one, answer in self.reads.items())
        return [name for (kind, _, name), answer in asked if kind == "script" and answer]

    @property
    def imports_python(self) -> bool:
        """Whether this script, or one that it imports, imports a Python module."""
        return any(one.startswith("module ") for one in self.reads)


_FIELDS = {*CompiledModule._fields}


class Cache:
    """A folder of compiled modules."""

    def __init__(self, folder: Path, overlapping: Overlapping = DEFAULT) -> None:
        self.folder = folder
        self._overlapping = overlapping
        self._has_kept = False

    def find(self, script: str, source: str) -> CompiledModule | None:
        """The compiled module of a script with this name and content, if the cache has it.

        A module with warnings is found only under the path it was compiled with, as the warnings
        contain that path.
        """
        try:
            data: Any = json.loads(read_cached(self._path(script, source)) or b"")
        except (ValueError, RecursionError):
            return None
        module = _module(data)
        if module is None or (module.script != script and module.said):
            return None
        return module._replace(script=script) if module.source == source else None

    def keep(self, module: CompiledModule) -> None:
        """Stores a module that has no errors."""
        data = module._asdict()
        data["digest"] = _checksum(data)
        if write_cached(self._path(module.script, module.source), json.dumps(data).encode()):
            self._has_kept = True

    def close(self) -> None:
        """Deletes the oldest modules if there are too many."""
        if not self._has_kept:
            return
        files = cached_files(self.folder / "modules")
        if len(files) > _MOST_MODULES:
            files.sort(key=_modified)
            for path in files[: len(files) // 4]:
                path.unlink(missing_ok=True)

    def size(self) -> tuple[int, int]:
        """The number of files in the cache, and their total size in bytes."""
        sizes: list[int] = []
        for path in self._files():
            with suppress(FileNotFoundError):  # another process has just deleted the file
                sizes.append(path.stat().st_size)
        return len(sizes), sum(sizes)

    def clear(self) -> tuple[int, int]:
        """Deletes the files of the cache. Returns their number and their total size in bytes.

        Raises:
            FileProblem: A file cannot be removed.
        """
        found = self.size()
        for path in self._files():
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise FileProblem(f"cannot remove {path}: {error.strerror or error}") from None
        return found

    def _files(self) -> list[Path]:
        return cached_files(self.folder / "modules")

    def _path(self, script: str, source: str) -> Path:
        settings = json.dumps(self._overlapping)
        words = f"{self._compiler}\0{settings}\0{os.path.basename(shown(script))}\0{source}"
        return self.folder / "modules" / f"{digest(words.encode())}.json"

    @cached_property
    def _compiler(self) -> str:
        """A digest of saftc, Python and the packages that generate code."""
        parts = [__version__, sys.version]
        for folder, _, names in os.walk(Path(__file__).parent.parent):
            for name in names:
                if not name.endswith((".pyc", ".tables")):  # generated from the other files
                    parts.append(_state(os.path.join(folder, name)))
        for package in _WRITERS:
            spec = find_spec(package)
            parts.append(_state(spec.origin or "") if spec is not None else "")
        return digest("\n".join(sorted(parts)).encode())


def digest(data: bytes) -> str:
    """The SHA-256 of some data, in hexadecimal."""
    return sha256(data).hexdigest()


def _checksum(data: dict[str, Any]) -> str:
    return digest(json.dumps(data, sort_keys=True).encode())


def _module(data: Any) -> CompiledModule | None:
    """Parses a cached module. The result is None if the data are damaged."""
    if not isinstance(data, dict):
        return None
    known: dict[str, Any] = data  # pyright: ignore[reportUnknownVariableType]
    claimed = known.pop("digest", None)
    if set(known) != _FIELDS or claimed != _checksum(known):
        return None
    for name in ("said", "said_when_used"):
        known[name] = [Piece(*one) for one in known[name]]
    return CompiledModule(**known)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _state(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return path
    return f"{path} {found.st_size} {found.st_mtime_ns}"
