"""A module of the tree to the text of a Python module."""

from collections.abc import Mapping
from dataclasses import dataclass

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.blocks import above, emit_block, footer_lines
from saftc.codegen.classes import classes_of, docstring
from saftc.codegen.context import Context, Output
from saftc.codegen.definitions import bare_functions
from saftc.codegen.expressions import emit_expression
from saftc.codegen.imports import Imports
from saftc.codegen.layout import lay_out
from saftc.codegen.names import Needs, hidden_needs, python_names
from saftc.codegen.overlaps import emit_together
from saftc.codegen.positions import Origins
from saftc.codegen.statements import emit_statement
from saftc.codegen.variables import returned_symbols, values_of
from saftc.schedule.plan import Plan
from saftc.semantics.facts import Facts
from saftc.semantics.ownership import find_growth
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.comments import Comments


@dataclass(frozen=True, slots=True)
class Generated:
    """The text of a module, where its lines come from, the calls that its prompts are, and what of
    it runs at the same time."""

    text: str
    origins: Origins
    prompts: Mapping[n.Prompt, cst.Call]
    plan: Plan


def generate(source: Source, module: n.Module, facts: Facts, plan: Plan) -> Generated:
    """The Python module. `source.name` stands in its first line."""
    needs = Needs()
    # Doc comments that document something become docstrings.
    ordinary = [one for one in module.comments if one not in module.doc_comments]
    comments = Comments(source, module, ordinary)
    values, returned = values_of(module, facts), returned_symbols(module, facts)
    bare, growth = bare_functions(module, facts), find_growth(facts)
    while True:
        names = python_names(facts.names, needs)
        classes, imports = classes_of(module, facts), Imports(facts.siblings)
        output = Output(classes, values, returned, bare, growth, imports)
        context = Context(
            source=source,
            module=module,
            facts=facts,
            names=names,
            comments=comments,
            output=output,
            expression=emit_expression,
            statement=emit_statement,
            group=emit_together,
            scope=facts.names.scopes[module],
            plan=plan,
        )
        tree = _emit_module(context)
        if not hidden_needs(names, output.needs):
            text = lay_out(tree, output.texts)
            return Generated(text, Origins(output.spans, tree), output.prompts, plan)
        # A name of the script hides one that the output needs: write it again with these known.
        for name, scopes in output.needs.used.items():
            for scope in scopes:
                needs.add(name, scope)


_MAIN = cst.If(
    py.comparison(py.name("__name__"), "==", py.constant("__main__")),
    py.block([py.line(cst.Expr(py.call(py.name("main"))))]),
    leading_lines=[py.BLANK] * 2,
)


def _emit_module(context: Context) -> cst.Module:
    """The tree of the module, with its header, docstring and imports."""
    body, footer = emit_block(context, context.module.statements)
    footer += footer_lines(context, context.comments.end)
    if _has_main(context.module):
        body.append(_MAIN)
    if body:
        body[0] = above(body[0], [py.BLANK])
    else:
        footer[:0] = [py.BLANK]
    doc = context.module.doc
    top = [py.line(docstring(doc))] if doc else []
    name = context.source.name.replace("\\", "/").rsplit("/", 1)[-1]
    return cst.Module(
        [*top, *context.output.imports.statements(), *body],
        header=[py.header(name)],
        footer=footer,
    )


def _has_main(module: n.Module) -> bool:
    return any(
        isinstance(statement, n.FunctionDef)
        and statement.name.text == "main"
        and not statement.parameters
        for statement in module.statements
    )
