"""Imports scripts as Python modules: `import saftc.importing`, and then `import triage`.

    import saftc.importing                         finds scripts in and below this file's folder
    saftc.importing.install("scripts", "flows")    finds them in and below these folders as well
    import triage_async                            the same script, in the async form

If Python finds no module `triage`, the script `triage.saft` is searched for in these folders and in
packages below them. The script is compiled, with the cache of `saftc run`, and executed as the
module. Other folders are not searched: if a library tries to import an optional module, no script
of that name may run. Warnings go to standard error. If a script has errors, the import raises a
SyntaxError that shows all of them.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from saftc.diagnostics.styled import plain
from saftc.project.cache import CompiledModule
from saftc.project.files import FileProblem, is_async_module
from saftc.project.workspace import Workspace, open_workspace
from saftc.reporting import write_rendered
from saftc.running import Running, importing_file, run_text

# The end of the name of a script's async form.
SUFFIX = "_async"


class ScriptFinder(MetaPathFinder):
    """Finds scripts in and below the installed folders. Python asks it after all other finders."""

    def __init__(self) -> None:
        self.folders: list[str] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the script `fullname`. `path` has the folders of its package.

        If there is no script called triage_async, the name means the async form of triage.saft.
        """
        name = fullname.rpartition(".")[2]
        found = self._found(fullname, name, path, is_async=False)
        if found is None and name.endswith(SUFFIX) and name != SUFFIX:
            found = self._found(fullname, name.removesuffix(SUFFIX), path, is_async=True)
        return found

    def _found(
        self, fullname: str, stem: str, path: Sequence[str] | None, *, is_async: bool
    ) -> ModuleSpec | None:
        name = f"{stem}.saft"
        searched = [*self.folders, *sys.path] if path is None else path
        for folder in map(os.path.realpath, searched):
            script = os.path.join(folder, name)
            if self._is_given(folder) and os.path.isfile(script):
                # Scripts in a Python package import each other by names that begin with the
                # package's, so the root is the folder above the package.
                root = Path(script).parents[fullname.count(".")]
                loader = ScriptLoader(script, root, is_async=is_async)
                return spec_from_file_location(fullname, script, loader=loader)
        return None

    def _is_given(self, folder: str) -> bool:
        inside = os.path.join(folder, "")
        return any(inside.startswith(os.path.join(given, "")) for given in self.folders)


class ScriptLoader(Loader):
    """Compiles a script and executes the result as a module."""

    def __init__(self, script: str, root: Path, *, is_async: bool = False) -> None:
        self.script = script
        self.root = root
        self.is_async = is_async
        # The bytes of the script at the time when it was executed.
        self.text: bytes | None = None

    def exec_module(self, module: ModuleType) -> None:
        """Compiles the script and executes it as `module`.

        Raises:
            SyntaxError: The script has errors.
        """
        self.text = _text_of(self.script)
        compiled, workspace = _compiled(self.script, self.root, is_async=self.is_async)
        assert compiled.text is not None
        if self.is_async and not is_async_module(compiled.text):
            # If both forms are the same, the names share one module.
            sys.modules[module.__name__] = import_module(module.__name__.removesuffix(SUFFIX))
            return
        form = ", async" if self.is_async else ""
        filename = f"<compiled {self.script}{form}>"
        run_text(compiled.text, filename, module.__dict__, Running(compiled, workspace))


def _compiled(
    script: str, root: Path, *, is_async: bool
) -> tuple[CompiledModule, Workspace]:
    suffix = SUFFIX if is_async else ""
    workspace = open_workspace(root=root, is_async=is_async, suffix=suffix)
    try:
        module = workspace.compile(script)
    except FileProblem as problem:
        raise ImportError(str(problem)) from None
    finally:
        workspace.close()
    if module.text is None:
        raise SyntaxError(f"{script} has errors\n{plain(module.said).rstrip()}")
    write_rendered(module.said_when_used, sys.stderr)
    return module, workspace


def install(*folders: str | os.PathLike[str]) -> None:
    """Makes the scripts in and below these folders importable.

    Without arguments, the folder is that of the calling file, or the working directory in an
    interactive session.
    """
    named = [os.path.realpath(folder) for folder in folders] or [_folder_of_caller()]
    finder = next((one for one in sys.meta_path if isinstance(one, ScriptFinder)), None)
    if finder is None:
        finder = ScriptFinder()
        sys.meta_path.append(finder)
    finder.folders += [folder for folder in named if folder not in finder.folders]


def forget_changed_scripts() -> set[str]:
    """Removes all imported scripts from `sys.modules` if the text of one of them has changed.

    The next imports then run the scripts again. Returns the names of the removed scripts.
    """
    found = {
        name: module.__loader__
        for name, module in list(sys.modules.items())
        if isinstance(getattr(module, "__loader__", None), ScriptLoader)
    }
    loaders = [one for one in found.values() if isinstance(one, ScriptLoader)]
    if all(_text_of(one.script) == one.text for one in loaders):
        return set()
    for name in found:  # all of them, as one may have imported another
        sys.modules.pop(name, None)
    return {name.removesuffix(SUFFIX) for name in found}


def _text_of(script: str) -> bytes | None:
    try:
        with open(script, "rb") as file:
            return file.read()
    except OSError:
        return None


def _folder_of_caller() -> str:
    """The folder of the file that imports this module, or calls a function of it."""
    path = importing_file(__file__)
    if path is None or not os.path.isfile(path):
        return os.getcwd()
    return os.path.dirname(os.path.realpath(path))


install()
