"""The tools of a plan: a module's functions, types and conversions, as a registry of the runtime.

If the module is a script, or compiled from a script, only its declarations are read, because they
are enough to check a plan. The script's `conv` functions are the conversions. Any other module is
imported, and its list `conversions` names the conversions. A plan can call the functions that the
module defines or lists in `__all__`. It can also call functions that the module imports, by their
names in the module.
"""

import ast
import importlib.util
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import cast

from runtime_support import approve
from runtime_support._core.templates import tool_name
from runtime_support._values.kinds import is_approved
from runtime_support.programs import Registry, RegistryError
from runtime_support.programs._registry import Function, classes_of
from saftc.diagnostics.near import near
from saftc.driver import Checked, compile_checked
from saftc.infer.programs import conversions_of
from saftc.plans.declaring import TextOf, declaring
from saftc.previews.declarations import imported_beside
from saftc.project.files import MADE_BY_SAFTC, FileProblem, read_module
from saftc.project.finder import sibling
from saftc.project.scripts import Modules


class NotWritable(Exception):
    """A part of a plan cannot be expressed in Python; the message says why.

    `path` is the place of the part in the plan.
    """

    path: tuple[str | int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools that a module offers to a plan.

    If the module is a script, `siblings` are this script and the scripts that it imports.
    """

    name: str
    namespace: Mapping[str, object]
    registry: Registry
    siblings: tuple[Checked, ...] = ()

    def place_of(self, thing: object) -> tuple[str, str]:
        """The module and name by which a function or class can be imported.

        Raises:
            NotWritable: The function or class cannot be imported.
        """
        own = getattr(thing, "__name__", "")
        if self.namespace.get(own) is thing:
            return self.name, own
        for name, value in self.namespace.items():
            if value is thing:
                return self.name, name
        if not own or "<locals>" in getattr(thing, "__qualname__", ""):
            raise NotWritable(f"{own} is not in a module, so it cannot be imported")
        return str(getattr(thing, "__module__", "")), own


def find_tools(name: str, folders: Iterable[Path], names: Set[str]) -> Tools:
    """Finds the module `name` and returns its tools.

    The module is searched in `folders`, then on Python's path. `names` are the names that the plan
    uses.

    Raises:
        FileProblem: The module does not exist, or cannot be used.
    """
    stem = Path(name).stem if name.endswith((".py", ".saft")) else ""
    if stem or not all(part.isidentifier() for part in name.split(".")):
        hint = f": write --tools {stem}" if stem else ""
        raise FileProblem(f"--tools takes the name of a module, and {name} is not one{hint}")
    first, places = name.split(".")[0], list(dict.fromkeys(folders))
    # Search for scripts first, as a compiled module does not say which functions are conversions.
    for folder in places:
        if sibling(name, folder) is not None:
            return _of_script(name, folder, names)
    for folder in places:
        # Absolute, since Python caches the contents of a folder by its path.
        if PathFinder.find_spec(first, [str(folder.resolve())]):
            return _of_python(name, folder.resolve(), names)
    if importlib.util.find_spec(first) is None:
        kinds = ("*.py", "*.saft")
        files = [path for folder in places for kind in kinds for path in folder.glob(kind)]
        meant = near(name, {path.stem for path in files})
        searched = ", ".join(str(folder.resolve()) for folder in places)
        hint = f"; did you mean {meant}?" if meant else f": looked in {searched}"
        raise FileProblem(f"there is no module {name}{hint}")
    return _of_python(name, places[0].resolve(), names)


def _of_script(name: str, folder: Path, names: Set[str]) -> Tools:
    modules = Modules(folder)
    modules.load(name)
    checked = modules.siblings[name]
    assert checked is not None
    if checked.has_errors:
        path = Path(checked.source.name)
        raise FileProblem(f"{path.name} has errors: see `saftc check {path}`")
    scripts = {name: one for name, one in modules.siblings.items() if one is not None}
    texts = {name: compile_checked(one).text for name, one in scripts.items()}
    conversions = set(conversions_of(checked.module, checked.facts))
    return _declared(name, folder, texts.get, conversions, names, tuple(scripts.values()))


def _declared(
    name: str,
    folder: Path,
    text_of: TextOf,
    conversions: set[str],
    names: Set[str],
    scripts: tuple[Checked, ...] = (),
) -> Tools:
    """The tools of a script or compiled module, of which only the declarations are executed."""
    with declaring(text_of) as approved:
        namespace = vars(imported_beside(folder)(name))
        registry = _registry(name, namespace, conversions, approved, names)
        return Tools(name, namespace, registry, scripts)


def _of_python(name: str, folder: Path, names: Set[str]) -> Tools:
    text = _compiled_text(name, folder)
    if text is not None:
        conversions = set(map(tool_name, _passed_as_conversions(text)))
        compiled = partial(_compiled_text, folder=folder)
        return _declared(name, folder, compiled, conversions, names)
    module = imported_beside(folder)(name)
    functions = {one.__name__: one for one in _listed_conversions(module, name)}
    namespace = {**vars(module), **functions}
    approved = [
        cast("Function", vars(one)["__wrapped__"]) for one in namespace.values() if is_approved(one)
    ]
    registry = _registry(name, namespace, set(functions), approved, names)
    return Tools(name, vars(module), registry)


def _listed_conversions(module: ModuleType, name: str) -> list[Function]:
    listed: object = getattr(module, "conversions", ())
    if isinstance(listed, list | tuple):
        given = cast("Sequence[object]", listed)
        functions = [one for one in given if callable(one)]
        if len(functions) == len(given):
            return functions
    raise FileProblem(f"`conversions` of {name} must be a list of functions")


def _compiled_text(name: str, folder: Path) -> str | None:
    """The text of a module that saftc has written, or None for any other module."""
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    text = read_module(path) if path.is_file() else None
    return text if text is not None and text.startswith(MADE_BY_SAFTC) else None


def _passed_as_conversions(text: str) -> set[str]:
    """The names of the conversions that a compiled module passes to its calls of `program`."""
    return {
        element.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.keyword) and node.arg == "conversions"
        for element in ast.walk(node.value)
        if isinstance(element, ast.Name)
    }


# Registries


def _registry(
    home: str,
    namespace: Mapping[str, object],
    conversions: set[str],
    approved: Sequence[Function],
    names: Set[str],
) -> Registry:
    """The registry of the functions that a program can call.

    The functions in `approved` wait for approval. `names` are the names that the plan uses.
    """
    callables = {
        key: approve(value) if any(value is one for one in approved) else value
        for key, value in namespace.items()
        if callable(value)
    }
    public = namespace.get("__all__")
    offered = {
        tool_name(key): value
        for key, value in callables.items()
        if (_is_own(key, value, home) if public is None else key in cast("list[str]", public))
    }
    used = {tool_name(key): value for key, value in callables.items() if tool_name(key) in names}
    converting = {
        tool_name(key): value for key, value in callables.items() if tool_name(key) in conversions
    }
    try:
        return _build({**offered, **used}, converting)
    except RegistryError:
        pass
    try:  # leave out functions that cannot be tools, unless the plan uses them
        return _build(used, converting)
    except RegistryError as error:
        raise FileProblem(f"a plan cannot call what {home} offers: {error}") from None


def _is_own(key: str, value: object, home: str) -> bool:
    return not key.startswith("_") and getattr(value, "__module__", None) == home


def _build(offered: Mapping[str, Function], converting: dict[str, Function]) -> Registry:
    types = classes_of([*offered.values(), *converting.values()])
    functions = {
        key: value
        for key, value in offered.items()
        if not isinstance(value, type) and value not in converting.values()
    }
    return Registry(functions, types, converting)
