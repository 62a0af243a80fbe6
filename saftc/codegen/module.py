"""A module of the tree to the text of a Python module."""

from dataclasses import dataclass

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.annotations import docstring
from saftc.codegen.blocks import above
from saftc.codegen.layout import lay_out
from saftc.codegen.names import Needs, hidden_needs, python_names
from saftc.codegen.positions import Origins
from saftc.codegen.statements import Statements
from saftc.semantics.facts import Facts
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.docs import module_doc


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


_MAIN = cst.If(
    py.comparison(py.name("__name__"), "==", py.constant("__main__")),
    py.block([py.line(cst.Expr(py.call(py.name("main"))))]),
    leading_lines=[py.BLANK] * 2,
)


class _Emitter(Statements):
    def run(self) -> str:
        self.prepare()
        body, footer = self.block(self.module.statements)
        footer += self.footer(self.comments.file_footer)
        if self._has_main():
            body.append(_MAIN)
        if body:
            body[0] = above(body[0], [py.BLANK])
        else:
            footer[:0] = [py.BLANK]
        name = self.source.name.replace("\\", "/").rsplit("/", 1)[-1]
        made = cst.Module(
            [*self._docstring(), *self.imports.statements(), *body],
            header=[py.header(name)],
            footer=footer,
        )
        self.origins.module = made
        return lay_out(made, self.texts)

    def _docstring(self) -> list[py.Statement]:
        doc, _ = module_doc(self.source, self.module)
        return [py.line(docstring(doc))] if doc else []

    def _has_main(self) -> bool:
        return any(
            isinstance(statement, n.FunctionDef)
            and statement.name.text == "main"
            and not statement.parameters
            for statement in self.module.statements
        )
