"""Finds the modules that a script imports: another script (a sibling), or else a Python module.

No Python module is imported for this, as that would run its code. Names are resolved from the root,
a folder that `Roots` finds for each script. `lib.util` is the script `lib/util.saft` below the
root, and so is `.util` in a script of the package `lib`.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from keyword import iskeyword
from pathlib import Path

from saftc.project.cache import digest
from saftc.project.files import UNNAMED, FileProblem, read_script
from saftc.project.settings import Project, settings_files

# Returns the bytes of the script at a path.
Read = Callable[[str], bytes]

# The modules that compiled modules or the runtime import: no script may have such a name.
_NEEDED = frozenset({"openai", "polars", "runtime_support"})


# An absolute import, in a line of a script.
_IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_][\w.]*)", re.MULTILINE)


def folder_of(file: str) -> Path:
    """The folder of a script. Standard input counts as a script in the working directory."""
    return Path() if file in UNNAMED else Path(file).parent


class Roots:
    """Finds the root of each script: the folder in which its imports are looked up.

    The first of these that exists is the root:

    - the given root (`--root`)
    - the project's setting (`root = "src"`), if the script is below that folder
    - for a script in a package, the folder above the topmost `__init__.py`, as for mypy
    - the root of the script that imported this one
    - the nearest folder, from the script's own upwards, with a script that this one imports
    - the script's own folder
    """

    def __init__(
        self,
        given: Path | None = None,
        read: Read = read_script,
        project: Project | None = None,
    ) -> None:
        self.given = given
        self._projects = {} if project is None else {project.path: project}
        self._read = read
        self._looked_up = cache(self._find)
        # By the path of an imported script: the root of the script that imports it.
        self._of_importing: dict[Path, Path] = {}

    def of(self, file: str) -> Path:
        """The root of a script.

        Raises:
            FileProblem: The script is not below the given root, or its project's settings cannot be
                read.
        """
        root, is_set_by_project = self._looked_up(file)
        return root if is_set_by_project else self._of_importing.get(Path(file), root)

    def note_imported(self, scripts: Iterable[Path], root: Path) -> None:
        """Records `root` as the root of the script that imports `scripts`."""
        for script in scripts:
            self._of_importing.setdefault(script, root)

    def is_set_by_project(self, file: str) -> bool:
        """Whether an option, the project's settings or a package decide the script's root.

        Otherwise, the imports of scripts decide it.
        """
        return self._looked_up(file)[1]

    def _find(self, file: str) -> tuple[Path, bool]:
        """The root of a script, and the result of `is_set_by_project` for the script."""
        if file in UNNAMED:
            return self.given or Path(), self.given is not None
        folder = Path(os.path.abspath(file)).parent
        if self.given is not None:
            root = _above(file, self.given)
            if root is None:
                raise FileProblem(f"{file} is not below {self.given}, which --root names")
            return root, True
        project = self._project_around(folder)
        root = None if project.root is None else _above(file, project.root)
        if root is not None:
            return root, True
        top = folder
        while top.name.isidentifier() and (top / "__init__.py").is_file():
            top = top.parent
        if top != folder:
            return _above(file, top) or top, True
        return self._by_imports(file, folder, project), False

    def _project_around(self, folder: Path) -> Project:
        *_, path = settings_files(folder)
        if path not in self._projects:
            self._projects[path] = Project(folder)
        return self._projects[path]

    def _by_imports(self, file: str, folder: Path, project: Project) -> Path:
        """The nearest folder, from `folder` upwards, with a script that `file` imports.

        If no folder of the project has such a script, the result is the folder of `file`.
        """
        last = project.path.parent if project.path.is_file() else Path.cwd()
        own = folder_of(file)
        if folder == last or last not in folder.parents:
            return own
        try:
            data = self._read(file)
        except FileProblem:
            return own  # the compiler reports the problem when it reads the script
        names = {one.decode().rstrip(".") for one in _IMPORTED.findall(data)}
        if any(sibling(name, own) is not None for name in names):
            return own
        names = {one for one in names if not is_python_module(one, own)}
        place = folder
        while names:
            if any(sibling(name, place) is not None for name in names):
                return _above(file, place) or own
            if place == last or not place.name.isidentifier():
                break
            place = place.parent
        return own


def _above(file: str, root: Path) -> Path | None:
    """The folder `root`, spelled as a prefix of the path `file`; None if `file` is not below it."""
    parts = Path(os.path.relpath(file, root)).parts
    if not parts or ".." in parts:
        return None
    textual = Path(file).parents
    if ".." in Path(file).parts or len(textual) < len(parts):
        return Path(os.path.relpath(root))
    return textual[len(parts) - 1]


def sibling(name: str, folder: Path) -> Path | None:
    """The script that `import name` means if the root is `folder`; None if no such file exists."""
    path = script_path(name, folder)
    return path if path.is_file() else None


def script_path(name: str, folder: Path) -> Path:
    """The path for `import name` with the root `folder`; the file may not exist."""
    return path_below(folder, f"{os.path.join(*name.split('.'))}.saft")


def path_below(folder: Path, name: str) -> Path:
    """The path of `folder / name`, as short as possible if `folder` contains `..`.

    A root above the working folder contains `..`, and the file may be below the working folder.
    """
    return Path(os.path.relpath(folder / name)) if ".." in folder.parts else folder / name


def name_in(root: Path, path: Path) -> str:
    """The dotted name by which other scripts import the script at `path`.

    If the script is not below `root`, the result is the stem of its file.
    """
    parts = Path(os.path.splitext(os.path.relpath(path, root))[0]).parts
    return path.stem if ".." in parts else ".".join(parts)


def package_in(root: Path, path: Path) -> str:
    """The dotted name of the package that contains the script at `path`.

    The result is empty if the script is directly in `root`, or is not below it.
    """
    parts = Path(os.path.relpath(path, root)).parent.parts
    return "" if ".." in parts else ".".join(parts)


def absolute_name(name: str, importing: str) -> str | None:
    """Resolves a relative import: `.schema` in `shop.orders` is `shop.schema`.

    `importing` is the name of the importing script. The result is None if the import has more dots
    than the script has packages.
    """
    bare = name.lstrip(".")
    level = len(name) - len(bare)
    if not level:
        return name
    package = importing.split(".")[:-1]
    if level > len(package):
        return None
    around = package[: len(package) - level + 1]
    return ".".join([*around, bare] if bare else around)


def scripts_in(name: str, folder: Path) -> frozenset[str]:
    """The names of the scripts that `from name import ...` can import from the folder `name`."""
    return frozenset(path.stem for path in folder.joinpath(*name.split(".")).glob("*.saft"))


def of_python(name: str, folder: Path) -> str:
    """A text that changes when a Python module changes in a way that affects compilation.

    The text says whether the module is in `folder` and whether it is a package. It also has the
    digest of the module's source, and the names of the scripts in the module's folder.
    """
    place = "beside" if is_first_party(name, folder) else "elsewhere"
    state = [place, *sorted(scripts_in(name, folder))]
    if is_of_python(name):
        return " ".join(state)
    spec = _spec(name, folder)
    if spec is None:
        return "missing"
    text = _text_of(_file_of(spec))
    form = "file" if spec.submodule_search_locations is None else "package"
    return " ".join([*state, form, "" if text is None else digest(text)])


def clash(module: str, package: str = "") -> tuple[str, str] | None:
    """The reason why `module` cannot be the name of a compiled module, with a suggested fix.

    The result is None if the name is usable. In a `package`, a module may have the name of a module
    of Python's library, because it does not hide the library's module.
    """
    if not package and (module in sys.stdlib_module_names or module in _NEEDED):
        whose = "that compiled modules need" if module in _NEEDED else "of Python's own library"
        return (
            f"a module called `{module}` hides the one {whose}",
            f"rename the script, for example `{module}_script`",
        )
    if not module.isidentifier() or iskeyword(module):
        named = re.sub(r"\W", "_", module)
        named = f"_{named}" if named[:1].isdigit() else f"{named}_" if iskeyword(named) else named
        return f"a module called `{module}` cannot be imported", f"rename the script: `{named}`"
    return None


def hidden_by(name: str, folder: Path) -> str | None:
    """The module that Python would find instead of the script `name`, in words for a message.

    The result is None if Python would find the compiled script.
    """
    first, *rest = name.split(".")
    if first in sys.stdlib_module_names or first in _NEEDED:
        return f"its own `{first}`"
    found: ModuleSpec | None = None
    expected = folder
    for part in (first, *rest[:-1]) if rest else ():
        script = expected / f"{part}.saft"
        if script.is_file():
            return f"`{script}`"
        expected = expected / part
        if found is None:
            found = PathFinder.find_spec(part, [str(folder.absolute()), *sys.path])
        else:
            found = _within(part, found.submodule_search_locations)
        if found is None:
            return None
        locations = [Path(place) for place in found.submodule_search_locations or ()]
        if expected.absolute() not in locations:
            return f"`{found.origin or locations[0]}`"
    return None


def is_python_module(name: str, folder: Path) -> bool:
    """Whether a program in `folder` can import the module."""
    first, *rest = name.split(".")
    if first in sys.stdlib_module_names and name in sys.modules:
        return True  # a module of the standard library may be in another file, as `os.path`
    is_built_in = first in sys.stdlib_module_names and not rest
    return _spec(name, folder) is not None or is_built_in


def python_source(name: str, folder: Path) -> bytes | None:
    """The source of a Python module; None if it is in the standard library or cannot be read."""
    return None if is_of_python(name) else _text_of(python_file(name, folder))


def python_file(name: str, folder: Path) -> Path | None:
    """The file of a Python module; None if the module is not found or not written in Python."""
    return _file_of(_spec(name, folder))


def _file_of(spec: ModuleSpec | None) -> Path | None:
    is_written = spec is not None and spec.origin is not None and spec.origin.endswith(".py")
    return Path(str(spec.origin)) if spec is not None and is_written else None


def _text_of(path: Path | None) -> bytes | None:
    try:
        return None if path is None else path.read_bytes()
    except OSError:
        return None  # Python reports it when the script runs


def stub_of(name: str, folder: Path) -> Path | None:
    """The typeshed stub of a standard library module.

    The result is None if the module is not in the standard library or has no stub, or if
    `folder` may have another module of the same name.
    """
    spec = PathFinder.find_spec("typeshed_client") if is_of_python(name) else None
    if spec is None or spec.origin is None or is_first_party(name, folder):
        return None
    place = Path(spec.origin).with_name("typeshed").joinpath(*name.split("."))
    files = (place.with_name(f"{place.name}.pyi"), place / "__init__.pyi")
    return next((file for file in files if file.is_file()), None)


def is_of_python(name: str) -> bool:
    """Whether a module is in the standard library, or is one that only typeshed's stubs import."""
    first = name.split(".")[0]
    return first in sys.stdlib_module_names or first == "_typeshed"


def is_package(name: str, folder: Path) -> bool:
    """Whether a Python module is a package."""
    spec = _spec(name, folder)
    return spec is not None and spec.submodule_search_locations is not None


def _spec(name: str, folder: Path) -> ModuleSpec | None:
    first, *rest = name.split(".")
    if not first:
        return None  # a relative import outside of packages
    spec = PathFinder.find_spec(first, [str(folder.absolute()), *sys.path]) or _installed(first)
    for part in rest:
        if spec is None:
            return None
        # Search for the last part of the name only: the full name of a module in a namespace
        # package cannot be found unless its parent is imported.
        spec = _within(part, spec.submodule_search_locations)
    return spec


def is_first_party(name: str, folder: Path) -> bool:
    """Whether the module is in `folder`, which makes it a first-party module in ruff's terms."""
    path = folder / name.split(".")[0]
    return path.is_dir() or path.with_suffix(".py").is_file()


def _within(part: str, locations: Sequence[str] | None) -> ModuleSpec | None:
    return None if locations is None else PathFinder.find_spec(part, list(locations))


def _installed(name: str) -> ModuleSpec | None:
    """The module's spec from a finder of editable installations, or from the interpreter itself."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        if find is not None and finder is not PathFinder:
            spec = find(name, None, None)
            if spec is not None:
                return spec
    return None
