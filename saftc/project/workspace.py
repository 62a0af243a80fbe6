"""The scripts of one command: each is read once, and compiled unless the cache has its module.

    workspace = Workspace(Cache(cache_folder()))
    module = workspace.compile("triage.saft")       a CompiledModule
    workspace.siblings(module)                      the scripts that triage.saft imports

The compiler is imported only when a script has to be compiled.
"""

import gc
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from saftc.diagnostics.styled import Piece, plain
from saftc.overlap.settings import DEFAULT, Overlapping
from saftc.project.cache import Cache, CompiledModule, digest
from saftc.project.finder import Roots, script_path
from saftc.project.reads import Reads, question_of
from saftc.project.settings import Project
from saftc.user_cache import cache_in_use

if TYPE_CHECKING:
    from saftc.codegen.module import Generated
    from saftc.driver import Checked
    from saftc.project.scripts import Scripts
    from saftc.source import Source


class Origin(NamedTuple):
    """A script and its module, with the place in the script for each part of the module."""

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
    reads: Reads | None = None,
) -> "Workspace":
    """Creates the workspace of a command, with the project's settings and the user's cache.

    `root` is the root for all scripts (see `Roots`). `project` is the project around the working
    folder, if it was read already. `reads` reads and records the files.

    Raises:
        FileProblem: The project's settings cannot be read.
    """
    folder = cache_in_use()
    project = Project() if project is None else project
    overlapping = project.compiling(
        in_order=in_order, is_async=is_async, suffix=suffix, defaults=defaults
    )
    cache = None if folder is None else Cache(folder, overlapping)
    return Workspace(cache, overlapping, root, project, reads)


class Workspace:
    """Compiles scripts, and keeps the modules by the paths of their scripts.

    The path `-` is standard input. Without a cache, every script is compiled and nothing is stored
    on the disk.
    """

    def __init__(
        self,
        cache: Cache | None,
        overlapping: Overlapping = DEFAULT,
        root: Path | None = None,
        project: Project | None = None,
        reads: Reads | None = None,
    ) -> None:
        self.reads = Reads() if reads is None else reads
        self.roots = Roots(root, self.reads.data, project)
        self._cache = cache
        self._overlapping = overlapping
        self._modules: dict[str, CompiledModule] = {}
        # By script and root: the same script may import other modules from another root.
        self._from_cache: dict[tuple[str, Path], CompiledModule | None] = {}
        # The script compiled last, for `origin`.
        self._last: tuple[str, Origin] | None = None
        # Held while compiling: prompts in other threads call `origin` meanwhile.
        self._compiling = RLock()

    @cached_property
    def scripts(self) -> "Scripts":
        """The scripts that the checker has loaded. The first use imports the compiler."""
        from saftc.project.scripts import Scripts

        return Scripts(self.reads, roots=self.roots)

    def forget(self, file: str) -> None:
        """Drops a changed script and its importers, so that they are read and compiled again."""
        outdated = self.scripts.forget(Path(file))
        for script, module in list(self._modules.items()):
            if not outdated.isdisjoint((Path(script), *self.siblings(module))):
                del self._modules[script]
        self._from_cache.clear()

    def has(self, file: str) -> bool:
        """Whether a script was compiled, and was not dropped by `forget` since."""
        return str(Path(file)) in self._modules

    def is_cached(self, file: str) -> bool:
        """Whether the cache has the compiled script.

        Raises:
            FileProblem: The script cannot be read.
        """
        return self._cached(str(Path(file))) is not None

    def compile(self, file: str) -> CompiledModule:
        """Compiles a script. The module's text is None if the script has errors.

        Raises:
            FileProblem: The script cannot be read.
        """
        file = str(Path(file))
        known = self._modules.get(file)
        if known is None:
            with self._compiling:
                known = self._cached(file) or self._compile(file)
            self._modules[file] = known
            self.roots.note_imported(self.siblings(known), self.roots.of(file))
        return known

    def compile_with_map(self, file: str, target: str) -> CompiledModule:
        """Compiles a script, with the source map for a module called `target`."""
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

    def diagnostics_of(
        self, module: CompiledModule, width: int | None, *, when_used: bool
    ) -> Sequence[Piece]:
        """The rendered diagnostics of a script.

        With `when_used`, only those to show when the script runs are rendered. If `width` is given,
        the lines fit a terminal with that many columns.
        """
        said = module.said_when_used if when_used else module.said
        if not said or width is None:
            return said
        from saftc.diagnostics.render import fits, render

        if fits(plain(said), width):
            return said
        checked = self.check(module.script)
        found = checked.when_used if when_used else checked.diagnostics
        return render(found, checked.source, width)

    def check(self, file: str) -> "Checked":
        """Checks a script without compiling it."""
        with self._compiling:
            return self.scripts.check(file)

    def siblings(self, module: CompiledModule) -> list[Path]:
        """The scripts that a script imports, directly or not.

        A script comes after the scripts that it imports.
        """
        root = self.roots.of(module.script)
        return [script_path(name, root) for name in module.scripts]

    def origin(self, module: CompiledModule) -> Origin | None:
        """The script of a module, with the places in the script of the module's parts.

        The script is compiled again unless it is the last script that was compiled. The result is
        None if the new module differs from `module` because an imported file has changed.
        """
        with self._compiling:
            if self._last is None or self._last[0] != module.script:
                self._compile(module.script)
            last = self._last
        if last is None or last[0] != module.script or last[1].generated.text != module.text:
            return None
        return last[1]

    def close(self) -> None:
        """Closes the cache."""
        if self._cache is not None:
            self._cache.close()

    def _cached(self, file: str) -> CompiledModule | None:
        key = file, self.roots.of(file)
        if key not in self._from_cache:
            self._from_cache[key] = self._looked_up(*key)
        return self._from_cache[key]

    def _looked_up(self, file: str, root: Path) -> CompiledModule | None:
        if self._cache is None:
            return None
        module = self._cache.find(file, digest(self.reads.data(file)))
        if module is None:
            return None
        reads = module.reads.items()
        is_same = all(self.reads.ask(question_of(one, root)) == was for one, was in reads)
        return module if is_same else None

    def _compile(self, file: str) -> CompiledModule:
        from saftc.diagnostics.render import render
        from saftc.driver import compile_checked

        # Commands disable garbage collection: free the cycles that the last script has left.
        gc.collect(0)
        root = self.roots.of(file)
        compiled = compile_checked(self.scripts.check(file), self._overlapping)
        checked, generated = compiled.checked, compiled.module
        reads = self.scripts.of(file).reads_of(Path(file))
        module = CompiledModule(
            script=file,
            source=digest(self.reads.data(file)),
            reads={question.as_text(root): answer for question, answer in reads.items()},
            said=render(checked.diagnostics, checked.source),
            said_when_used=render(checked.when_used, checked.source),
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
    """Imports the whole compiler. A command calls this while the process is idle."""
    from saftc.driver import compile_source
    from saftc.source import Source

    compile_source(Source.from_text("start.saft", "print(1)\n"))
