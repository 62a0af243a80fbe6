"""The function of a job, in a form that can be sent to other processes; it contains no keys.

    with load_function(Script(modules, "triage", "/home/ann/desk")) as triage: ...

The modules of a script are executed from their texts, once in each process of the job. In
`sys.modules` they have unique names, so they hide no other module of the process. They still import
each other by their own names.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import importlib.util
import json
import linecache
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from io import StringIO
from types import ModuleType
from typing import Any, TypeAlias

from runtime_support._language.files import in_folder
from runtime_support._schema import model as m

Function: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Module:
    """A compiled script: the name by which it is imported, its text, and its source map."""

    name: str
    text: str
    source_map: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """A function of a script, with the modules of the script.

    A module comes after the modules that it imports; the function's own module is the last.
    Relative file paths start in `folder`, and Python modules are found there.
    """

    modules: tuple[Module, ...]
    function: str
    folder: str

    @property
    def digest(self) -> str:
        """A hash of the names and texts of all modules."""
        texts = repr([(module.name, module.text) for module in self.modules])
        return hashlib.sha256(texts.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Job:
    """The parts of a job that are the same for all rows and all processes.

    - `name` is the name of the function.
    - `constants` are arguments that are the same for each row.
    - `columns` are the columns of the result in Parquet, or None for other output formats.
    - `rows_at_once` is how many rows run at a time in a process, each for `row_timeout` seconds at
      most.
    - For workers, `run` identifies this start of the job, `settings` are the settings that the
      program has set, and `around` are all other settings.
    """

    function: Script | Function
    name: str
    constants: Mapping[str, Any]
    columns: Mapping[str, m.Schema] | None
    rows_at_once: int
    row_timeout: float | None = None
    run: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    around: Mapping[str, Any] = field(default_factory=dict[str, Any])


@contextmanager
def load_function(function: Script | Function) -> Generator[Function]:
    """Yields the function; in the block, file paths and Python modules are found in its folder."""
    if not isinstance(function, Script):
        yield function
        return
    sys.path.insert(0, function.folder)
    try:
        with in_folder(function.folder):
            with _loading:
                found = _loaded(function)
            yield found
    finally:
        with suppress(ValueError):
            sys.path.remove(function.folder)


_loading = threading.Lock()


@lru_cache(maxsize=16)
def _loaded(script: Script) -> Function:
    return _Package(script).load()


class _Package:
    """The modules of a script, loaded in this process under unique names."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.suffix = f"@{script.digest[:12]}"
        self.modules: dict[str, ModuleType] = {}

    def load(self) -> Function:
        """Executes the modules, and returns the function."""
        for module in self.script.modules:
            self._run(module)
        return getattr(self.modules[self.script.modules[-1].name], self.script.function)

    def _run(self, source: Module) -> None:
        module = self._made(source.name)
        file = f"<compiled {source.name}{self.suffix}>"
        text = source.text
        # Tracebacks read source lines from this cache.
        linecache.cache[file] = (len(text), None, StringIO(text).readlines(), file)
        if source.source_map:
            module.__dict__["__saft_source_map__"] = json.loads(source.source_map)
        exec(compile(text, file, "exec"), module.__dict__)

    def _made(self, name: str) -> ModuleType:
        """A new module of this name, which is also set as an attribute of its parent package.

        In `sys.modules` the module has a unique name. By this name, Python finds the module in
        which a type was defined.
        """
        module = self.modules[name] = sys.modules[name + self.suffix] = ModuleType(
            name + self.suffix
        )
        module.__package__ = name.rpartition(".")[0]
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
        above, _, last = name.rpartition(".")
        if above:
            setattr(self.modules.get(above) or self._made(above), last, module)
        return module

    def _import(
        self,
        name: str,
        names: Mapping[str, Any] | None = None,
        inner: Mapping[str, Any] | None = None,
        wanted: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Imports one of the script's modules, or a Python module.

        It is the function `__import__` of these modules.
        """
        if level:
            package = str((names or {}).get("__package__") or "")
            name = importlib.util.resolve_name("." * level + name, package)
        module = self.modules.get(name)
        if module is None:
            return builtins.__import__(name, names, inner, wanted or (), 0)
        if not wanted:
            return self.modules[name.partition(".")[0]]
        for one in wanted:
            if not hasattr(module, one):  # a Python module there, or a name in such a module
                with suppress(ModuleNotFoundError, AttributeError):
                    python = builtins.__import__(name, names, inner, (one,), 0)
                    setattr(module, one, getattr(python, one))
        return module
