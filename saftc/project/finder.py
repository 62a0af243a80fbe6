"""Where the modules that a script imports are: a sibling script, or else on Python's own path.

Nothing is imported to find out: a package's code would run. Names are looked for from the root of
the script that is run, as Python does: `lib.util` is `lib/util.saft` below it, and in a script of
the package `lib`, `.util` is that too. `Roots` tells the root of a script.
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

# Gives the bytes of a script by its path.
Read = Callable[[str], bytes]

# Names that a compiled module needs for itself, or for what the runtime is on.
_NEEDED = frozenset({"openai", "polars", "runtime_support"})


# What a script imports by a whole name, as a line of it says.
_IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_][\w.]*)", re.MULTILINE)


def folder_of(file: str) -> Path:
    """The folder that a script is in; standard input has the working directory."""
    return Path() if file in UNNAMED else Path(file).parent


class Roots:
    """The folder that the imports of each script are looked for in: its root.

    It is the one that is given for all scripts, or that the project names (`root = "src"`), if the
    script is below it; for a script of a package, the folder above the topmost `__init__.py`, as
    for mypy; that of the script which has imported it; or else the nearest folder in which one of
    the scripts is that it imports.
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
        # By the path of a script that others import, their root.
        self._of_importing: dict[Path, Path] = {}

    def of(self, file: str) -> Path:
        """The root of a script.

        Raises:
            FileProblem: The script is not below the root that is given, or the settings of its
                project cannot be read.
        """
        root, is_said = self._looked_up(file)
        return root if is_said else self._of_importing.get(Path(file), root)

    def note_imported(self, scripts: Iterable[Path], root: Path) -> None:
        """Notes the root of those who import some scripts."""
        for script in scripts:
            self._of_importing.setdefault(script, root)

    def is_said(self, file: str) -> bool:
        """Whether the root is known without looking at what the script imports."""
        return self._looked_up(file)[1]

    def _find(self, file: str) -> tuple[Path, bool]:
        """The root of a script, and whether it is known without what that imports."""
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
        """The nearest folder in which there is a script that the script imports."""
        last = project.path.parent if project.path.is_file() else Path.cwd()
        own = folder_of(file)
        if folder == last or last not in folder.parents:
            return own
        try:
            data = self._read(file)
        except FileProblem:
            return own  # told by whoever reads it
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
    """A folder in the words of the path of a script that is below it; None if it is not."""
    parts = Path(os.path.relpath(file, root)).parts
    if not parts or ".." in parts:
        return None
    textual = Path(file).parents
    if ".." in Path(file).parts or len(textual) < len(parts):
        return Path(os.path.relpath(root))
    return textual[len(parts) - 1]


def sibling(name: str, folder: Path) -> Path | None:
    """The script that `import name` means in a script whose root is `folder`, if there is one."""
    path = script_path(name, folder)
    return path if path.is_file() else None


def script_path(name: str, folder: Path) -> Path:
    """Where the script is, or would be, that `import name` means for the root `folder`."""
    return path_below(folder, f"{os.path.join(*name.split('.'))}.saft")


def path_below(folder: Path, name: str) -> Path:
    """The path of a file by that from a folder."""
    # Of a root above the working folder, the file may be below that all the same.
    return Path(os.path.relpath(folder / name)) if ".." in folder.parts else folder / name


def name_in(root: Path, path: Path) -> str:
    """What a script below `root` is imported as; of another one its bare name."""
    parts = Path(os.path.relpath(path, root)).with_suffix("").parts
    return path.stem if ".." in parts else ".".join(parts)


def package_in(root: Path, path: Path) -> str:
    """The package that a script below `root` is in, with its dots; empty where it is in none."""
    parts = Path(os.path.relpath(path, root)).parent.parts
    return "" if ".." in parts else ".".join(parts)


def absolute_name(name: str, importing: str) -> str | None:
    """The whole name of a module that a script imports: `.schema` in `shop.orders` is
    `shop.schema`. None where the packages around the script are too few.

    `importing` is the script's own name.
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
    """The scripts that `from name import ...` can name: those in the folder that `name` is."""
    return frozenset(path.stem for path in folder.joinpath(*name.split(".")).glob("*.saft"))


def of_python(name: str, folder: Path) -> str:
    """What a compiled module remembers of a Python module: all that has a say in its own text.

    Where the module is, whether it holds others, what it says, and the scripts in its folder.
    """
    place = "beside" if is_beside(name, folder) else "elsewhere"
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
    """What is wrong with `module` as the name of a module, and what to do.

    Only one that is in no `package` can hide another.
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
    """What Python finds instead of the script that `name` means: another module of that name."""
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
    """Whether Python would find the module, from a program in `folder`."""
    first, *rest = name.split(".")
    if first in sys.stdlib_module_names and name in sys.modules:
        return True  # `os.path` is a file of another name
    is_built_in = first in sys.stdlib_module_names and not rest
    return _spec(name, folder) is not None or is_built_in


def python_source(name: str, folder: Path) -> bytes | None:
    """The text of a Python module that is not a part of Python itself, if there is one to read."""
    return None if is_of_python(name) else _text_of(python_file(name, folder))


def python_file(name: str, folder: Path) -> Path | None:
    """The file that a Python module is written in, if it is written in Python."""
    return _file_of(_spec(name, folder))


def _file_of(spec: ModuleSpec | None) -> Path | None:
    is_written = spec is not None and spec.origin is not None and spec.origin.endswith(".py")
    return Path(str(spec.origin)) if spec is not None and is_written else None


def _text_of(path: Path | None) -> bytes | None:
    try:
        return None if path is None else path.read_bytes()
    except OSError:
        return None  # Python will say so


def stub_of(name: str, folder: Path) -> Path | None:
    """The file of typeshed that declares a module of Python's own library.

    None for any other module, for one that is not declared, and where another module in `folder`
    may be before it.
    """
    spec = PathFinder.find_spec("typeshed_client") if is_of_python(name) else None
    if spec is None or spec.origin is None or is_beside(name, folder):
        return None
    place = Path(spec.origin).with_name("typeshed").joinpath(*name.split("."))
    files = (place.with_name(f"{place.name}.pyi"), place / "__init__.pyi")
    return next((file for file in files if file.is_file()), None)


def is_of_python(name: str) -> bool:
    """Whether a module is one of Python's own library, or one that only its stubs import."""
    first = name.split(".")[0]
    return first in sys.stdlib_module_names or first == "_typeshed"


def is_package(name: str, folder: Path) -> bool:
    """Whether a Python module holds others."""
    spec = _spec(name, folder)
    return spec is not None and spec.submodule_search_locations is not None


def _spec(name: str, folder: Path) -> ModuleSpec | None:
    first, *rest = name.split(".")
    if not first:
        return None  # what a module that is in no package imports from its package
    spec = PathFinder.find_spec(first, [str(folder.absolute()), *sys.path]) or _installed(first)
    for part in rest:
        if spec is None:
            return None
        # By its last part alone: with the whole name, a namespace package asks for its parent.
        spec = _within(part, spec.submodule_search_locations)
    return spec


def is_beside(name: str, folder: Path) -> bool:
    """Whether Python would find the module in `folder`: what ruff calls first-party."""
    path = folder / name.split(".")[0]
    return path.is_dir() or path.with_suffix(".py").is_file()


def _within(part: str, locations: Sequence[str] | None) -> ModuleSpec | None:
    return None if locations is None else PathFinder.find_spec(part, list(locations))


def _installed(name: str) -> ModuleSpec | None:
    """What a finder of an editable installation, or the interpreter itself, knows."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        if find is not None and finder is not PathFinder:
            spec = find(name, None, None)
            if spec is not None:
                return spec
    return None
