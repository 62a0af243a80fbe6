"""Emits code for MCP servers: a variable for each server, and the bodies of its tools' functions.

    docs = server("docs")


    def search(query: str, limit: int = 10) -> list[Hit]:
        return docs.call("search", query=query, limit=limit, returns=list[Hit])
"""

import builtins
import keyword

from saftc.check.servers import script_name
from saftc.codegen import python as py
from saftc.codegen.annotations import annotation
from saftc.codegen.context import Context
from saftc.codegen.imports import SOURCES
from saftc.codegen.python import Expression, Statement
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.types import ANY, ObjectType

# The parameters of `call` itself.
_PARAMETERS = ("returns",)


def emit_server_import(context: Context, statement: n.ServerImport) -> list[Statement]:
    """Emits the variable of a server. The functions for the server's tools are emitted below it."""
    server = statement.server.text
    calls = [one for one in nodes_of(context.module, n.ServerCall) if one.server == server]
    pure = sorted({one.tool for one in calls if context.plan.effects.is_pure_tool(one)})
    named = [("pure", py.list_(list(map(py.constant, pure))))] if pure else []
    made = context.note(
        py.call(context.global_("server"), [py.constant(server)], named), statement.span
    )
    return [py.line(py.assignment(py.name(_name_of(context, server)), made))]


def emit_server_call(context: Context, node: n.ServerCall) -> Expression:
    """Emits `docs.call("search", query=query, returns=list[Hit])`.

    Arguments whose names Python does not allow are in a dict before the other arguments.
    """
    positional: list[Expression] = [py.constant(node.tool)]
    named: list[tuple[str, Expression]] = []
    others: list[tuple[str, Expression]] = []
    for argument in node.arguments:
        assert argument.name is not None
        wire = argument.name.text
        is_plain = py.is_identifier(wire) and not keyword.iskeyword(wire)
        into = named if is_plain and wire not in _PARAMETERS else others
        into.append((wire, context.emit(argument.value)))
    if others:
        positional.append(py.dict_(others))
    type_ = context.type_of(node)
    if type_ != ANY:
        named.append(("returns", annotation(context, type_)))
    function = "acall" if context.is_async else "call"
    called = py.attribute(py.name(_name_of(context, node.server)), function)
    made = py.call(called, positional, named)
    return context.awaited(made, node.span) if context.is_async else made


def name_titles(context: Context, function: n.FunctionDef) -> None:
    """Names the classes for a tool's objects after the titles in the tool's schemas."""
    for call in nodes_of(context.module, n.ServerCall):
        if isinstance(function.body[0], n.RetStmt) and function.body[0].value is call:
            for schema, title in call.titles.items():
                type_ = context.facts.schemas.get(schema)
                if isinstance(type_, ObjectType):
                    context.output.classes.places.setdefault(type_.fields, title)


def _name_of(context: Context, server: str) -> str:
    """The variable of a server.

    It is the server's name, with a suffix if the name is already used.
    """
    scopes = context.facts.names.scopes.values()
    taken = {name for scope in scopes for name in scope.symbols}
    taken |= {*context.names.values(), *SOURCES, *dir(builtins)}
    names: dict[str, str] = {}
    for statement in nodes_of(context.module, n.ServerImport):
        if statement.server.text not in names:
            name = script_name(statement.server.text)
            while name in taken or keyword.iskeyword(name):
                name += "_server"
            taken.add(name)
            names[statement.server.text] = name
    return names[server]
