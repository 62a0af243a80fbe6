"""The declarations of scripts: compiled, not run, and with those of their siblings in sight."""

from types import ModuleType

from saftc.driver import Compiled, compile_checked
from saftc.previews.declarations import Declarations, FindModule, declarations_of, nothing
from saftc.project.scripts import Modules


class DeclaredScripts:
    """The siblings that are found through `modules`; `find` gives other modules.

    `compiled` are the siblings that were asked for so far, with what they declare.
    """

    def __init__(self, modules: Modules, find: FindModule = nothing) -> None:
        self.modules = modules
        self.find = find
        self.compiled: dict[str, tuple[Compiled, Declarations]] = {}

    def of(self, compiled: Compiled, name: str) -> Declarations:
        """The declarations of a compiled script, whose module is called `name`."""
        assert compiled.text is not None
        return declarations_of(compiled.text, name, self.module)

    def module(self, name: str) -> ModuleType | None:
        """The declarations of a sibling as a module; another module, if it is to be known."""
        checked = self.modules.siblings.get(name)
        if checked is None:
            return self._folder(name) or self.find(name)
        if name not in self.compiled:
            compiled = compile_checked(checked)
            self.compiled[name] = compiled, self.of(compiled, name)
        return self.compiled[name][1].module

    def _folder(self, name: str) -> ModuleType | None:
        """The scripts of a folder, as `from folder import script` finds them."""
        inside = [inner for inner in self.modules.siblings if inner.rpartition(".")[0] == name]
        folder = ModuleType(name)
        for inner in inside:
            setattr(folder, inner.rpartition(".")[2], self.module(inner))
        return folder if inside else None
