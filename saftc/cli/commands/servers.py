"""The MCP servers of a project: locks their tools and shows them.

Only `saftc mcp lock` starts or asks a server. All other commands read the lock.
"""

from collections.abc import Collection, Mapping
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import typer

from saftc.cli.process import needing
from saftc.project.files import FileProblem
from saftc.project.finder import package_in
from saftc.reporting import counted, show_error, show_info, visible, write_result

mcp = typer.Typer(
    help="Lock and list the tools of MCP servers, for `from mcp(\"NAME\") import ...`.",
    epilog="Example: `saftc mcp lock docs`",
)

_Servers = Annotated[
    list[str] | None,
    typer.Argument(help="The servers; without any, all of the project.", metavar="[SERVER...]"),
]


@mcp.command(epilog="Example: `saftc mcp lock docs`")
def lock(
    servers: _Servers = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 when something has changed.")
    ] = False,
) -> None:
    """Ask the project's MCP servers for their tools, and write them to mcp.lock.json.

    The servers are those of .mcp.json, or of [tool.saft.mcp] in pyproject.toml. Changed tools are
    shown. Compilation reads mcp.lock.json: commit it.
    """
    raise typer.Exit(lock_servers(servers or (), is_check=check))


@mcp.command("list", epilog="Example: `saftc mcp list`")
def list_(servers: _Servers = None) -> None:
    """Show the tools in mcp.lock.json as functions, without asking a server."""
    raise typer.Exit(list_servers(servers or ()))


def lock_servers(names: Collection[str], *, is_check: bool) -> int:
    """Asks these MCP servers for their tools, and writes the tools to the lock.

    Without names, all servers of the project are asked. A server that does not answer keeps its
    entry in the lock. With `is_check`, nothing is written. Returns the exit code, which is 1 if a
    server failed or, with `is_check`, if the lock is outdated.
    """
    from runtime_support.mcp import _config, _lock, _sessions

    folder = _config.project_folder()
    configured = _config.configured(folder)
    for name in names or configured:
        _config.check_trusted(_config.config_of(name, folder))
    if not configured:
        show_error(f"no MCP server is configured in {folder}: write it into .mcp.json")
        return 1
    known = _lock.read_lock(folder)
    kept = {name: one for name, one in known.items() if name in configured}
    if names:
        kept = dict(known)
    code = 0
    for name, found in _sessions.list_servers(names or list(configured)).items():
        if isinstance(found, Exception):
            show_error(str(found))
            code = 1
            continue
        before: Mapping[str, Any] = known[name].tools if name in known else {}
        # An equal entry stays unchanged, even if the server orders it differently now.
        same = {one for one in found.tools if _is_same(before.get(one), found.tools[one])}
        tools = {**found.tools, **{one: before[one] for one in same}}
        kept[name] = _lock.LockedServer(found.title, tools)
        write_result(_changes(name, before, tools))
        for tool, reason in found.left_out.items():
            show_error(f"{name}: `{visible(tool)}` is left out: {reason}")
            # Two tools of one name cannot be told apart: the user has to know.
            code = max(code, int(reason == _sessions.TWO_OF_ONE_NAME))
        for tool in tools.values():
            for reference in _nowhere(tool):
                told = f"refers to {visible(reference)}, which is nowhere in its schema"
                show_error(f"{name}: `{tool.name}` {told}: that part may be anything")
    text = _lock.lock_text(kept)
    path = _lock.lock_path(folder)
    if is_check:
        return 1 if code or text != _lock.lock_text(known) else 0
    if code and not kept:
        return code
    _lock.write_lock(folder, kept)
    show_info(f"{path}: {counted(sum(len(one.tools) for one in kept.values()), 'tool')}")
    return code


def list_servers(names: Collection[str]) -> int:
    """Writes the locked tools of these MCP servers as functions. Returns the exit code.

    Without names, the tools of all locked servers are written.
    """
    from runtime_support._values.kinds import literal
    from runtime_support.mcp import _config, _lock

    folder = _config.project_folder()
    known = _lock.read_lock(folder)
    if not known:
        show_error(f"nothing is locked in {folder}: run `saftc mcp lock` first")
        return 1
    texts: list[str] = []
    for name in names or known:
        found = _lock.locked(folder, name)
        title = f"   // {found.title}" if found.title else ""
        lines = [f"from mcp({literal(name)}) import ...{title}\n"]
        for one in found.tools.values():
            lines += ["\n", _declaration(one)]
        texts.append("".join(lines))
    write_result("\n\n".join(texts))
    return 0


def serve_script(file: Path, root: Path, port: int | None, journal: str | None) -> int:
    """Serves the documented functions of a script as MCP tools. Returns the exit code.

    The script is imported; `root` is the folder from which scripts import each other.
    """
    advice = "saftc serve needs the package mcp: pip install mcp"
    try:
        with needing("mcp mcp_types uvicorn", advice):
            import_module("mcp")  # before the script runs
            from runtime_support.mcp import _serving
            from saftc.importing import ScriptLoader

            package = package_in(root, file)
            if package:
                import_module(package)  # as Python runs a package before its modules
            module = _serving.load_module(
                f"{package}.{file.stem}-saft".removeprefix("."),
                str(file),
                ScriptLoader(str(file), root),
            )
            _serving.serve(module, file.stem, port, journal)
    except SyntaxError as problem:
        raise FileProblem(str(problem)) from None
    return 0


def _nowhere(tool: Any) -> tuple[str, ...]:
    """The references in a tool's schemas that cannot be resolved."""
    from saftc.check.servers import Unusable, declared
    from saftc.source import Span
    from saftc.syntax import nodes as n

    try:
        return declared("", tool.name, tool.entry(), n.Identifier(Span(0, 0), "tool")).nowhere
    except Unusable:  # the list of tools says so
        return ()


def _is_same(one: Any, other: Any) -> bool:
    return one is not None and other is not None and one.digest == other.digest


def _changes(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Lists the changed tools of a server, with one declaration a line.

    If no tool has changed, the text says so.
    """
    lines: list[str] = []
    for tool in sorted({*before, *now}):
        if _is_same(before.get(tool), now.get(tool)):
            continue
        old, new = (_head(tools[tool]) if tool in tools else "" for tools in (before, now))
        if old == new:
            lines.append(f"  ~ {new}   // its description has changed")
            continue
        lines += [f"  - {old}"] if old else []
        lines += [f"  + {new}"] if new else []
    told = "\n".join(lines) if lines else "  nothing has changed"
    return f"{name}\n{told}\n"


def _head(tool: Any) -> str:
    """A tool's declaration on one line.

    A comment has the server's name for the tool, if scripts use another name.
    """
    return _declared(tool)[0] + _own_name(tool.name)


def _own_name(name: str) -> str:
    """A comment with the server's name for a tool. It is empty if scripts use the same name."""
    from runtime_support._values.kinds import literal
    from saftc.check.servers import script_name

    return "" if script_name(name) == name else f"   // {literal(name)}"


def _declared(tool: Any) -> tuple[str, list[str], str, list[str]]:
    """A tool as a function of a script.

    Returns the declaration on one line, its parameters, the documentation of the tool, and that of
    each parameter.
    """
    from saftc.check.imports import ServerModule
    from saftc.check.servers import script_name
    from saftc.driver import check
    from saftc.lsp.hover import signature
    from saftc.source import Source
    from saftc.syntax import nodes as n
    from saftc.syntax.walk import nodes_of

    text = f'from mcp("server") import {script_name(tool.name)}\n'
    source = Source.from_text("", text)
    checked = check(source, lambda _: ServerModule({tool.name: tool.entry()}))
    functions = nodes_of(checked.module, n.FunctionDef)
    if not functions:
        problem = next(one.message for one in checked.diagnostics)
        return f"// {tool.name}: {problem}", [], "", []
    docs = checked.module.docs
    head, parameters = signature(checked.facts.functions[functions[0]], source)
    told = [docs.get(one, "") for one in functions[0].parameters]
    return head, parameters, docs.get(functions[0], ""), told


def _declaration(tool: Any) -> str:
    """The full declaration of a tool as a function of a script, with its documentation."""
    head, parameters, doc, told = _declared(tool)
    head += _own_name(tool.name)
    lines = [f"/// {line}".rstrip() for line in StringIO(doc)]
    if tool.annotations.get("readOnlyHint"):
        lines.append("// the server says that it only reads")
    if not any(told):
        return "\n".join([*lines, head]) + "\n"
    start, end = head.split("(", 1)[0], head.removeprefix(f"{head.split('(', 1)[0]}(")
    end = end.removeprefix(", ".join(parameters)).removeprefix(")")
    lines.append(f"{start}(")
    for parameter, words in zip(parameters, told, strict=True):
        lines.append(f"    {parameter},{f'  /// {words}' if words else ''}")
    return "\n".join([*lines, f"){end}"]) + "\n"
