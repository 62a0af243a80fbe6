"""Scripts as modules of Python: `import saftc.importing`, and then `import triage`.

Where Python finds no module of that name, a script `triage.saft` in a folder of `sys.path`, or in a
package, is compiled, through the cache as by `saftc run`, and run as the module. Warnings are told
on standard error; a script with errors is a SyntaxError that tells them all.
"""

import linecache
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from saftc.commands.asserts import compile_module
from saftc.commands.failures import Running
from saftc.commands.reporting import write_rendered
from saftc.project.cache import Cache, CompiledModule
from saftc.project.files import FileProblem
from saftc.project.settings import compile_settings
from saftc.project.workspace import Workspace
from saftc.user_cache import cache_in_use


class ScriptFinder(MetaPathFinder):
    """Finds scripts where Python has found no module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The script of this name as a module, if there is one; `path` is that of its package."""
        name = f"{fullname.rpartition('.')[2]}.saft"
        for folder in sys.path if path is None else path:
            script = os.path.join(folder or os.getcwd(), name)
            if os.path.isfile(script):
                return spec_from_file_location(fullname, script, loader=ScriptLoader(script))
        return None


class ScriptLoader(Loader):
    """Runs the module that a script is compiled to."""

    def __init__(self, script: str) -> None:
        self.script = script

    def exec_module(self, module: ModuleType) -> None:
        """Compiles the script, and runs it as `module`.

        Raises:
            SyntaxError: The script has errors.
        """
        compiled, workspace = _compiled(self.script)
        assert compiled.text is not None
        filename = f"<compiled {self.script}>"
        # Tracebacks look for the lines there, and failures for the places in the script here.
        lines = compiled.text.splitlines(keepends=True)
        linecache.cache[filename] = (len(compiled.text), None, lines, filename)
        module.__dict__["__saft_source_map__"] = Running(compiled, workspace)
        module.__dict__["__saft_folder__"] = str(Path(self.script).parent.resolve())
        exec(compile_module(compiled.text, filename), module.__dict__)


def _compiled(script: str) -> tuple[CompiledModule, Workspace]:
    folder, overlapping = cache_in_use(), compile_settings()
    workspace = Workspace(None if folder is None else Cache(folder, overlapping), overlapping)
    try:
        module = workspace.compile(script)
    except FileProblem as problem:
        raise ImportError(str(problem)) from None
    finally:
        workspace.close()
    if module.text is None:
        raise SyntaxError(f"{script} has errors\n{module.said.rstrip()}")
    write_rendered(module.said, sys.stderr)
    return module, workspace


def install() -> None:
    """Has Python find scripts from now on; once is enough."""
    if not any(isinstance(finder, ScriptFinder) for finder in sys.meta_path):
        sys.meta_path.append(ScriptFinder())


install()
