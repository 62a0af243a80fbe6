"""Generates the text of a Python module from the tree of a script."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from saftc.check.facts import Facts
from saftc.check.imports import later_imports
from saftc.check.names import Symbol
from saftc.codegen import python as py
from saftc.codegen.annotations import variable_annotation
from saftc.codegen.context import Context, Output
from saftc.codegen.expressions.expressions import emit_expression
from saftc.codegen.imports import Imports
from saftc.codegen.layout import lay_out
from saftc.codegen.names import NeededNames, hidden_needs, python_names
from saftc.codegen.positions import Origins
from saftc.codegen.python import Statement
from saftc.codegen.statements.blocks import (
    above,
    classes_needed,
    comment_lines,
    emit_block,
    footer_lines,
)
from saftc.codegen.statements.classes import classes_of, docstring
from saftc.codegen.statements.overlaps import emit_together
from saftc.codegen.statements.statements import emit_statement
from saftc.infer.tools import named_in, waiting_functions
from saftc.lower.choices import Choices
from saftc.overlap.async_main import MainSplit
from saftc.overlap.plan import Plan
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.comments import Comments
from saftc.syntax.tokens import Comment
from saftc.syntax.walk import nodes_of


@dataclass(frozen=True, slots=True)
class Generated:
    """The text of a module, the origins of its lines, and the plan of its concurrent code."""

    text: str
    origins: Origins
    plan: Plan


def generate(source: Source, module: n.Module, facts: Facts, plan: Plan) -> Generated:
    """Generates the Python module of a script. The first line names the file `source.name`."""
    needs = NeededNames()
    # Doc comments that document something become docstrings.
    ordinary = [one for one in module.comments if one not in module.doc_comments]
    comments = Comments(source, module, ordinary)
    title = comments.take_title(module)
    choices = Choices(facts, plan)
    while True:
        names = python_names(facts.names, needs)
        classes = classes_of(module, facts, {*needs.used, *(plan.taken or ())})
        imports = Imports({*facts.siblings, *(one + plan.suffix for one in facts.siblings)})
        output = Output(classes, imports)
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
            choices=choices,
            later_imports=later_imports(module),
        )
        tree = _emit_module(context, title)
        hides = not output.needs.used.keys().isdisjoint(classes.made)
        if not hides and not hidden_needs(names, output.needs):
            text = lay_out(tree, output.texts)
            return Generated(text, Origins(output.spans, tree), plan)
        # A name of the user hides a name that the output needs: emit again, avoiding all needed
        # names.
        for name, scopes in output.needs.used.items():
            for scope in scopes:
                needs.add(name, scope)


def _emit_module(context: Context, title: Sequence[Comment]) -> cst.Module:
    """Emits the module: its header, docstring, title comments, imports and statements."""
    entry, own_main = context.choices.entry, _main_of(context.module)
    body, footer = emit_block(context, entry.outside)
    end = footer_lines(context, context.comments.end)
    if entry.inside:
        body += _emit_main(context, entry, own_main, footer, end)
        footer = []
        body.append(_started(context, is_async=True))
    else:
        footer += end
        if own_main is not None:
            body.append(_started(context, is_async=_is_async(context, own_main)))
    body[:0] = _guarded(context)
    if context.plan.defaults and nodes_of(context.module, n.Prompt):
        body[:0] = [_defaults(context, json.loads(context.plan.defaults))]
    if body:
        body[0] = above(body[0], [py.BLANK])
    else:
        footer[:0] = [py.BLANK]
    lines: list[Statement] = [*context.output.imports.statements(), *body]
    about = _title_lines(context, title)
    if lines:
        lines[0] = above(lines[0], about)
    else:
        footer[:0] = about
    doc = context.module.doc
    top = [py.line(docstring(doc))] if doc else []
    name = context.source.name.replace("\\", "/").rsplit("/", 1)[-1]
    return cst.Module(
        [*top, *lines],
        header=[py.header(name, is_async=context.is_async)],
        footer=footer,
    )


def _defaults(context: Context, settings: Mapping[str, Any]) -> cst.SimpleStatementLine:
    """Emits `defaults(model="gpt-5.6", ...)`: the project's settings for the module's prompts."""
    named = [(name, cst.parse_expression(repr(value))) for name, value in settings.items()]
    return py.line(cst.Expr(py.call(context.global_("defaults"), [], named)))


def _guarded(context: Context) -> list[Statement]:
    """Emits `__guarded__ = ["refund"]`: the documented functions that need approval.

    Functions that call one of them without approval are included. An MCP server offers only the
    other documented functions, because a client's call would not wait for approval. Returns an
    empty list if no function needs approval.
    """
    documented = [
        one
        for one in context.module.statements
        if isinstance(one, n.FunctionDef) and one in context.module.docs
    ]
    waiting = waiting_functions(context.facts) if documented else set[object]()
    names = [
        one.name
        for one in documented
        if waiting and not waiting.isdisjoint({one, *named_in(context.facts, one)})
    ]
    if not names:
        return []
    value = py.list_([py.constant(context.name_of(one)) for one in names])
    made = py.line(py.assignment(py.name("__guarded__"), value))
    context.note(made, names[0].span)
    told = py.comment(
        "No MCP client is offered these: they, or functions that they call, wait for approval."
    )
    return [above(made, [cst.EmptyLine(comment=told)])]


def _title_lines(context: Context, title: Sequence[Comment]) -> list[cst.EmptyLine]:
    """The title comments as lines, with a blank line below them if the script has one.

    If there is a blank line between or below the comments, there is also one above them.
    """
    lines = comment_lines(context, title, None)
    if title and context.source.blank_lines_below(title[-1].span.start):
        lines.append(py.BLANK)
    return [py.BLANK, *lines] if py.BLANK in lines else lines


def _started(context: Context, *, is_async: bool) -> cst.If:
    """Emits `if __name__ == "__main__":` with a call of `main`."""
    called = py.call(py.name("main"))
    if is_async:
        called = py.call(py.attribute(context.global_("asyncio"), "run"), [called])
    return cst.If(
        py.comparison(py.name("__name__"), "==", py.constant("__main__")),
        py.block([py.line(cst.Expr(called))]),
        leading_lines=[py.BLANK] * 2,
    )


def _emit_main(
    context: Context,
    entry: MainSplit,
    own_main: n.FunctionDef | None,
    above_it: Sequence[cst.EmptyLine],
    end: Sequence[cst.EmptyLine],
) -> list[Statement]:
    """Emits `async def main()`, below the classes and declarations of variables that it needs.

    Declared are the variables that only `main` assigns and other code reads. If the script itself
    has a function `main`, this function gets another name, and the emitted `main` calls it at the
    end.
    """
    context.output.needs.add("main", context.scope)
    body, footer = emit_block(context.deeper(), entry.inside)
    if entry.shared:
        names = [cst.NameItem(py.name(context.names[symbol])) for symbol in entry.shared]
        body.insert(0, py.line(cst.Global(names)))
        context.note(body[0], entry.inside[0].span)
    if own_main is not None:
        call = py.call(py.name(context.name_of(own_main.name)))
        is_async = _is_async(context, own_main)
        body.append(
            context.note(
                py.line(cst.Expr(py.awaited(call) if is_async else call)), own_main.name.span
            )
        )
    declared = [_declared(context, one) for one in entry.undeclared if one.kind == "variable"]
    block = py.block(body, footer=[*footer, *end])
    main = context.note(
        py.function("main", py.parameters([]), py.constant(None), block, is_async=True),
        entry.inside[0].span,
    )
    made = [*classes_needed(context, entry.inside[0].span), *declared, main]
    return [above(made[0], above_it), *made[1:]]


def _declared(context: Context, symbol: Symbol) -> Statement:
    """Emits `name: str`, which declares a variable that `main` assigns."""
    type_ = variable_annotation(context, context.choices.variables.declared(symbol), symbol)
    made = py.line(py.annotated(py.name(context.names[symbol]), type_))
    if symbol.node is not None:
        context.note(made, symbol.node.span)
    return made


def _is_async(context: Context, function: n.FunctionDef) -> bool:
    awaits = context.plan.awaits
    return awaits is not None and function in awaits.functions


def _main_of(module: n.Module) -> n.FunctionDef | None:
    """Returns the script's function `main` if it has no parameters.

    The compiled program calls it.
    """
    for statement in module.statements:
        if isinstance(statement, n.FunctionDef) and statement.name.text == "main":
            return None if statement.parameters else statement
    return None
