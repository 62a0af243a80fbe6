"""What each module was built from, so that an unchanged script is not compiled again.

    records = Records()
    records.of(Path("build/triage.py"))       the Record of its last build, or None
    records.keep(Path("build/triage.py"), record)
    records.save()

They are kept in one file in the user's cache, by the path of the module, and hold for one saftc
alone: after a change of it, or of what it writes with, everything is compiled again. A cache that
cannot be read or written costs time and nothing else.
"""

import json
import os
import sys
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeGuard

from platformdirs import user_cache_path

from saftc import __version__
from saftc.files import FileProblem, write_module

# Stands for the digest of a module that Python finds.
OF_PYTHON = "python"

# What has a say in the text of a module, beside Python and saftc.
_WRITERS = ("black", "lark", "libcst")


@dataclass(frozen=True, slots=True)
class Record:
    """One build.

    `script` is the script's path as it was given; `source`, `module` and `source_map` are digests,
    the last one empty when no map was written. `imports` holds all that the script imports,
    directly or not, deepest first: the digest of a sibling script or `OF_PYTHON`. `said` are the
    warnings.
    """

    script: str
    source: str
    module: str
    source_map: str
    imports: dict[str, str]
    said: str


_FIELDS = {field.name for field in fields(Record)}


class Records:
    """The records of all builds; reads them at the first use."""

    def __init__(self) -> None:
        self._path = user_cache_path("saftc", appauthor=False) / "builds.json"
        self._compiler = _compiler()
        self._known: dict[str, Record] | None = None
        self._new: dict[str, Record] = {}

    def of(self, target: Path) -> Record | None:
        """The record of the last build of a module."""
        if self._known is None:
            self._known = self._read()
        return self._known.get(os.path.abspath(target))

    def keep(self, target: Path, record: Record) -> None:
        """Takes a record for `save`."""
        self._new[os.path.abspath(target)] = record

    def save(self) -> None:
        """Writes what was kept; what other commands wrote meanwhile stays."""
        if not self._new:
            return
        records = {**self._read(), **self._new}
        modules = {path: asdict(record) for path, record in records.items() if os.path.exists(path)}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_module(self._path, json.dumps({"compiler": self._compiler, "modules": modules}))
        except (OSError, FileProblem):
            return  # the next build takes longer

    def _read(self) -> dict[str, Record]:
        try:
            data: Any = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        if not _is_object(data) or data.get("compiler") != self._compiler:
            return {}
        modules = data.get("modules")
        if not _is_object(modules):
            return {}
        records = {path: _record(data) for path, data in modules.items()}
        return {path: record for path, record in records.items() if record is not None}


def digest(data: bytes) -> str:
    """What tells one content from another."""
    return sha256(data).hexdigest()


def digest_of(path: str | Path) -> str | None:
    """The digest of a file; None when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return digest(file.read())
    except (OSError, ValueError):
        return None


def _compiler() -> str:
    """What tells one saftc, with what it writes with, from another."""
    parts = [__version__, sys.version]
    for folder, _, names in os.walk(Path(__file__).parent):
        for name in names:
            if not name.endswith(".pyc"):
                parts.append(_state(os.path.join(folder, name)))
    for package in _WRITERS:
        spec = find_spec(package)
        parts.append(_state(spec.origin or "") if spec is not None else "")
    return digest("\n".join(sorted(parts)).encode())


def _state(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return path
    return f"{path} {found.st_size} {found.st_mtime_ns}"


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _record(data: object) -> Record | None:
    """The record that the data are; None when they are none, or another version's."""
    if not _is_object(data) or set(data) != _FIELDS:
        return None
    imports = data["imports"]
    if not _is_object(imports):
        return None
    texts = [*imports.values(), *(data[name] for name in _FIELDS - {"imports"})]
    return Record(**data) if all(isinstance(text, str) for text in texts) else None
