"""A module of the tree to the text of a Python module."""

from dataclasses import dataclass

from saftc.codegen.annotations import docstring
from saftc.codegen.names import Needs, hidden_needs, python_names
from saftc.codegen.positions import Origins
from saftc.codegen.printing import Printer
from saftc.codegen.statements import Statements
from saftc.semantics.facts import Facts
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.docs import module_doc


def header(name: str) -> str:
    """The first line of the module compiled from the script `name`."""
    return f"# Compiled by saftc from {name}; edit that file instead.\n"


@dataclass(frozen=True, slots=True)
class Generated:
    """The text of a module, and where its lines come from."""

    text: str
    origins: Origins


def generate(source: Source, module: n.Module, facts: Facts) -> Generated:
    """The Python module. `source.name` stands in its first line."""
    needs = Needs()
    while True:
        names = python_names(facts.names, needs)
        emitter = _Emitter(source, module, facts, names)
        text = emitter.run()
        if not hidden_needs(names, emitter.needs):
            return Generated(text, emitter.origins)
        # A name of the script hides one that the output needs: write it again with these known.
        for name, scopes in emitter.needs.used.items():
            for scope in scopes:
                needs.add(name, scope)


class _Emitter(Statements):
    def run(self) -> str:
        self.prepare()
        self.block(self.module.statements)
        self.footer(self.module.statements, self.comments.file_footer)
        if self._has_main():
            self.lines += ["", "", 'if __name__ == "__main__":', "    main()"]
        top = self._top()
        if not self.lines:
            return top
        # black keeps two blank lines above a definition.
        code = next((line for line in self.lines if not line.startswith("#")), "")
        begins_with_definition = code.startswith(("def ", "class ", "@"))
        gap = "\n\n" if begins_with_definition else "\n"
        return top + gap + "\n".join(self.lines) + "\n"

    def _top(self) -> str:
        """The header, the docstring and the imports."""
        top = header(self.source.name.replace("\\", "/").rsplit("/", 1)[-1])
        doc, _ = module_doc(self.source, self.module)
        if doc:
            top += Printer().simple(docstring(doc)) + "\n"
        imports = self.imports.render()
        if imports:
            top += ("\n" if doc else "") + imports + "\n"
        return top

    def _has_main(self) -> bool:
        return any(
            isinstance(statement, n.FunctionDef)
            and statement.name.text == "main"
            and not statement.parameters
            for statement in self.module.statements
        )
