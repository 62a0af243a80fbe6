"""A module of the tree to the text of a Python module."""

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.annotations import docstring
from saftc.codegen.names import Needs, hidden_needs, python_names
from saftc.codegen.statements import Statements, Written
from saftc.semantics.facts import Facts
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.docs import module_doc


def header(name: str) -> str:
    """The first line of the module compiled from the script `name`."""
    return f"# Compiled by saftc from {name}; edit that file instead.\n"


def generate(source: Source, module: n.Module, facts: Facts) -> str:
    """The text of the Python module. `source.name` stands in its first line."""
    needs = Needs()
    while True:
        names = python_names(facts.names, needs)
        emitter = _Emitter(source, module, facts, names)
        text = emitter.run()
        if not hidden_needs(names, emitter.needs):
            return text
        # A name of the script hides one that the output needs: write it again with these known.
        for name, scopes in emitter.needs.used.items():
            for scope in scopes:
                needs.add(name, scope)


class _Emitter(Statements):
    def run(self) -> str:
        self.prepare()
        body = self.block(self.module.statements)
        if self._has_main():
            body.append(self._main_guard())
        parts = [header(self.source.name.replace("\\", "/").rsplit("/", 1)[-1])]
        doc, _ = module_doc(self.source, self.module)
        if doc:
            parts[0] += cst.Module([docstring(doc, 0)]).code
        imports = self.imports.render()
        if imports:
            parts[0] += ("\n" if doc else "") + imports + "\n"
        footer = self._comment_lines(self.comments.file_footer, None)
        code = cst.Module(body, footer=footer).code
        if code.strip():
            begins_with_definition = body and isinstance(body[0], cst.FunctionDef | cst.ClassDef)
            gap = "\n\n" if begins_with_definition and imports else "\n"
            parts.append(gap + code)
        return "".join(parts)

    def _has_main(self) -> bool:
        return any(
            isinstance(statement, n.FunctionDef)
            and statement.name.text == "main"
            and not statement.parameters
            for statement in self.module.statements
        )

    def _main_guard(self) -> Written:
        made = cst.If(
            py.comparison(py.name("__name__"), "==", py.string("__main__")),
            cst.IndentedBlock([cst.SimpleStatementLine([cst.Expr(py.call(py.name("main")))])]),
        )
        blank = [cst.EmptyLine(indent=False)] * 2
        return made.with_changes(leading_lines=blank)
