"""Running a script: compiled in memory, executed as a program, errors told in its own terms."""

import linecache
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType

from saftc.driver import Compiled, compile_checked
from saftc.failures import Running, explain
from saftc.modules import Modules


def run(compiled: Compiled, modules: Modules, arguments: Sequence[str]) -> int:
    """Runs a compiled script with `arguments` as `sys.argv[1:]`; gives the exit code.

    Sibling scripts that it imports are found through `modules`. An uncaught error is told on
    standard error.
    """
    sys.argv = [compiled.checked.source.name, *arguments]
    sys.path.insert(0, str(modules.folder.absolute()))
    scripts: dict[str, Running] = {}
    sys.meta_path.insert(0, _SiblingFinder(modules, scripts))
    # Types find the names in their annotations through the module that they are defined in.
    main = sys.modules["__main__"] = ModuleType("__main__")
    # Where the runtime begins the relative paths of a script.
    main.__dict__["__saft_folder__"] = str(modules.folder.resolve())
    try:
        _execute(compiled, main, scripts)
    except SystemExit:
        raise
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BaseException as error:
        sys.stdout.flush()
        sys.stderr.write(explain(error, scripts))
        return 1
    return 0


def _execute(compiled: Compiled, module: ModuleType, scripts: dict[str, Running]) -> None:
    """Runs a compiled text as `module`; from now on `scripts` know it by its file name."""
    assert compiled.module is not None
    source, text = compiled.checked.source, compiled.module.text
    filename = f"<compiled {source.name}>"
    # Tracebacks look for the lines there.
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scripts[filename] = Running(source, compiled.module)
    module.__dict__["__saft_source_map__"] = scripts[filename]
    exec(compile(text, filename, "exec"), module.__dict__)


class _SiblingFinder(MetaPathFinder, Loader):
    """Lets a script import its siblings without their modules being on disk."""

    def __init__(self, modules: Modules, scripts: dict[str, Running]) -> None:
        self.modules = modules
        self.scripts = scripts

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """A sibling script as a module, if it is one."""
        is_sibling = self.modules.siblings.get(fullname) is not None
        return spec_from_loader(fullname, self) if is_sibling else None

    def exec_module(self, module: ModuleType) -> None:
        """Runs the sibling's compiled text as the module."""
        checked = self.modules.siblings[module.__name__]
        assert checked is not None
        _execute(compile_checked(checked), module, self.scripts)
