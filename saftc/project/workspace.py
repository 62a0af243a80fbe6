"""The scripts that one command works on: each read once, and compiled unless the cache has it.

    workspace = Workspace(Cache(cache_folder()))
    module = workspace.compile("triage.saft")       a CompiledModule
    workspace.siblings(module)                      the scripts that it imports

The compiler is loaded when something has to be compiled, and not before.
"""

import gc
from collections.abc import Set
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from saftc.project.cache import OF_PYTHON, Cache, CompiledModule, digest
from saftc.project.files import UNNAMED, FileProblem, read_script
from saftc.project.finder import Roots, hidden_by, of_python, python_file, sibling
from saftc.project.servers import is_server, lock_path, state_of
from saftc.project.settings import Project
from saftc.schedule.settings import DEFAULT, Overlapping
from saftc.user_cache import cache_in_use

if TYPE_CHECKING:
    from saftc.codegen.module import Generated
    from saftc.driver import Checked
    from saftc.project.scripts import Scripts
    from saftc.source import Source


class Origin(NamedTuple):
    """A script beside the module that it has become, with the place of everything in it."""

    source: "Source"
    generated: "Generated"


def open_workspace(
    *,
    in_order: bool = False,
    is_async: bool = False,
    suffix: str = "",
    defaults: str = "",
    root: Path | None = None,
    project: Project | None = None,
) -> "Workspace":
    """The scripts of a command, with what the project says and the cache, unless it is not wanted.

    `root` is that of all scripts, where it is given (see `Roots`); `project` the one around the
    working folder, where it is known already.

    Raises:
        FileProblem: The project's settings cannot be read.
    """
    folder = cache_in_use()
    project = Project() if project is None else project
    overlapping = project.compiling(
        in_order=in_order, is_async=is_async, suffix=suffix, defaults=defaults
    )
    cache = None if folder is None else Cache(folder, overlapping)
    return Workspace(cache, overlapping, root, project)


class Workspace:
    """Compiled scripts by their path; `-` is standard input.

    Without a cache everything is compiled, and nothing kept.
    """

    def __init__(
        self,
        cache: Cache | None,
        overlapping: Overlapping = DEFAULT,
        root: Path | None = None,
        project: Project | None = None,
    ) -> None:
        self.roots = Roots(root, self.read, project)
        self._cache = cache
        self._overlapping = overlapping
        self._data: dict[str, bytes] = {}
        self._modules: dict[str, CompiledModule] = {}
        # By script and root, since what imports mean depends on the root.
        self._from_cache: dict[tuple[str, Path], CompiledModule | None] = {}
        self._found: dict[tuple[str, Path], Path | None] = {}
        self._imports: dict[tuple[Path, str], str | None] = {}
        # The root of each script that another one has imported, where nothing else says it.
        self._roots: dict[str, Path] = {}
        # What was compiled last, for those who want to know more of it than its text.
        self._last: tuple[str, Origin] | None = None
        # Prompts in several threads ask for their places while the script imports another one.
        self._compiling = RLock()

    @cached_property
    def scripts(self) -> "Scripts":
        """The scripts as the compiler knows them; loads the compiler."""
        from saftc.project.scripts import Scripts

        return Scripts(self.read, self.find, roots=self.roots)

    def read(self, file: str) -> bytes:
        """The bytes of a script, as they were when it was read first.

        Raises:
            FileProblem: It cannot be read.
        """
        if file not in self._data:
            self._data[file] = read_script(file)
        return self._data[file]

    def find(self, name: str, folder: Path) -> Path | None:
        """The script that an import means, as it was when it was looked for first."""
        key = name, folder
        if key not in self._found:
            self._found[key] = sibling(name, folder)
        return self._found[key]

    def give(self, file: str, data: bytes) -> None:
        """Has the bytes of a script that is not a file."""
        self._data[file] = data

    def forget(self, changed: Set[Path]) -> None:
        """Has scripts be read again, as they have changed, and with them those that import them.

        What is compiled again takes over what the scripts still have in common with their texts.
        """
        for file in [one for one in self._data if Path(one) in changed]:
            del self._data[file]
        outdated = {*changed}
        if "scripts" in vars(self):
            outdated.update(*map(self.scripts.forget, changed))
        for file, module in list(self._modules.items()):
            if not outdated.isdisjoint((Path(file), *self.siblings(module))):
                del self._modules[file]
        self._from_cache.clear()
        self._imports.clear()

    def has(self, file: str) -> bool:
        """Whether a script is compiled, and has not changed since as far as is known."""
        return str(Path(file)) in self._modules

    @property
    def scripts_read(self) -> Set[Path]:
        """The scripts that were read so far."""
        return {Path(file) for file in self._data if file not in UNNAMED}

    def has_outdated(self, path: Path) -> bool:
        """Whether a script was read that holds something else by now."""
        known = self._data.get(str(path))
        try:
            return known is not None and known != read_script(str(path))
        except FileProblem:
            return True

    @property
    def imports_looked_for(self) -> Set[Path]:
        """Where what the scripts import is, or would be: scripts and modules of Python."""
        names = {
            (name, self.root_of(module.script))
            for module in self._modules.values()
            for name in (*module.imports, *module.read)
        }
        if "scripts" in vars(self):
            for modules in self.scripts.folders.values():
                names |= {(name, modules.folder) for name in modules.asked}
        found: set[Path] = set()
        for name, root in names:
            if is_server(name):
                found.add(lock_path(root))
                continue
            place = root.joinpath(*name.split("."))
            module = python_file(name, root)
            found |= {place.with_suffix(".saft"), place.with_suffix(".py"), module or place}
        return found

    def is_cached(self, file: str) -> bool:
        """Whether the cache has what a script is compiled to.

        Raises:
            FileProblem: It cannot be read.
        """
        return self._cached(str(Path(file))) is not None

    def compile(self, file: str) -> CompiledModule:
        """What a script is compiled to; its text is None when it has errors.

        Raises:
            FileProblem: It cannot be read.
        """
        file = str(Path(file))
        known = self._modules.get(file)
        if known is None:
            with self._compiling:
                known = self._cached(file) or self._compile(file)
            self._modules[file] = known
            root = self.root_of(file)
            for path in self.siblings(known):
                self._roots.setdefault(str(path), root)
        return known

    def root_of(self, file: str) -> Path:
        """The folder from which a script's imports are looked for: see `Roots`.

        Where it is not said, that of the script that has imported it comes first.
        """
        root = self.roots.of(file)
        return root if self.roots.is_said(file) else self._roots.get(file, root)

    def compile_with_map(self, file: str, target: str) -> CompiledModule:
        """What a script is compiled to, with the source map for a module called `target`."""
        module = self.compile(file)
        if module.text is None or module.target == target:
            return module
        from saftc.codegen.source_map import render_source_map

        origin = self.origin(module)
        assert origin is not None, "a script changed while it was compiled"
        text = render_source_map(origin.source, origin.generated, target)
        module = module._replace(target=target, source_map=text)
        self._keep(module)
        return module

    def said(self, module: CompiledModule, width: int | None, *, when_used: bool) -> str:
        """The diagnostics of a script, those for whoever runs it or all, drawn for a terminal of a
        width if there is one."""
        said = module.said_when_used if when_used else module.said
        if not said or width is None:
            return said
        from saftc.diagnostics.render import fits, render_text

        if fits(said, width):
            return said
        checked = self.check(module.script)
        found = checked.when_used if when_used else checked.diagnostics
        return render_text(found, checked.source, width)

    def check(self, file: str) -> "Checked":
        """What is known of a script without compiling it."""
        with self._compiling:
            return self.scripts.check(file, self.root_of(file))

    def siblings(self, module: CompiledModule) -> list[Path]:
        """The scripts that a script imports, directly or not, deepest first."""
        folder = self.root_of(module.script)
        found = (self.find(name, folder) for name in module.scripts)
        return [path for path in found if path is not None]

    def origin(self, module: CompiledModule) -> Origin | None:
        """A script, and the places of its module; compiles it again when need be.

        None when that does not give the same module any more: a file that the script imports is not
        where it was.
        """
        with self._compiling:
            if self._last is None or self._last[0] != module.script:
                self._compile(module.script)
            last = self._last
        if last is None or last[0] != module.script or last[1].generated.text != module.text:
            return None
        return last[1]

    def close(self) -> None:
        """Ends what the cache has to do."""
        if self._cache is not None:
            self._cache.close()

    def _cached(self, file: str) -> CompiledModule | None:
        key = file, self.root_of(file)
        if key not in self._from_cache:
            self._from_cache[key] = self._looked_up(*key)
        return self._from_cache[key]

    def _looked_up(self, file: str, folder: Path) -> CompiledModule | None:
        if self._cache is None:
            return None
        module = self._cache.find(file, digest(self.read(file)))
        if module is None:
            return None
        imports, read = module.imports.items(), module.read.items()
        is_same = all(self._import(folder, name) == was for name, was in imports) and all(
            of_python(name, folder) == was for name, was in read
        )
        return module if is_same else None

    def _import(self, folder: Path, name: str) -> str | None:
        """What a module has for the import of `name`, as things are now; None if it is an error."""
        key = folder, name
        if key not in self._imports:
            path = None if is_server(name) else self.find(name, folder)
            if is_server(name):
                self._imports[key] = state_of(name, folder)
            elif path is None:
                self._imports[key] = of_python(name, folder)
            else:
                is_hidden = hidden_by(name, folder) is not None
                self._imports[key] = None if is_hidden else digest(self.read(str(path)))
        return self._imports[key]

    def _compile(self, file: str) -> CompiledModule:
        from saftc.diagnostics.render import render_text
        from saftc.driver import compile_checked

        # With the collector off, what the script before has left in cycles would stay.
        gc.collect(0)
        compiled = compile_checked(self.scripts.check(file, self.root_of(file)), self._overlapping)
        checked, generated = compiled.checked, compiled.module
        modules = self.scripts.of(file, self.root_of(file))
        imports = {} if checked.has_errors else modules.imports(Path(file))
        imports_python = any(was.startswith(OF_PYTHON) for was in imports.values())
        module = CompiledModule(
            script=file,
            source=digest(self.read(file)),
            imports=imports,
            read=modules.read_with() if imports_python else {},
            said=render_text(checked.diagnostics, checked.source),
            said_when_used=render_text(checked.when_used, checked.source),
            text=None if generated is None else generated.text,
        )
        if generated is not None:
            self._last = file, Origin(checked.source, generated)
            self._keep(module)
        return module

    def _keep(self, module: CompiledModule) -> None:
        self._modules[module.script] = module
        if self._cache is not None and module.text is not None:
            self._cache.keep(module)


def load_compiler() -> None:
    """Loads all that compiling needs, while there is nothing else to do."""
    from saftc.driver import compile_source
    from saftc.source import Source

    compile_source(Source.from_text("start.saft", "print(1)\n"))
