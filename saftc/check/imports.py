"""Resolves imports: links imported names to their declarations.

A sibling script is compiled together with the importing script, so its functions, types and values
keep their inferred types. Other modules are Python modules: their names have the types that Python
declares, if any, and calls are plain Python calls. A `Loader` finds the modules.
"""

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from saftc.check.bindings import sole_assignments
from saftc.check.facts import Facts, RecordFacts, Shape
from saftc.check.names import Symbol
from saftc.check.statements import bound_by
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector, Edit, Hint
from saftc.diagnostics.near import did_you_mean
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.constructs import is_constant
from saftc.syntax.walk import nodes_of
from saftc.types.foreign import UNKNOWN, Alias, Namespace, PythonClass


@dataclass(frozen=True, slots=True)
class PythonModule:
    """A module that Python will find at run time.

    `scripts`: the Saft scripts in the folder of a package. `is_beside`: the module is next to the
    script. `members`: the members of the module. `first`: the members of the module that the first
    part of a dotted name denotes. `members` and `first` are None if there is no source to read.
    `records` and `shapes`: the classes that are records or objects, from all modules that have been
    read; both grow as more modules are read. `name`: the absolute name, if the script uses a
    relative name.
    """

    scripts: frozenset[str] = frozenset()
    is_beside: bool = False
    members: Namespace | None = None
    first: Namespace | None = None
    records: MutableMapping[n.RecordDef, RecordFacts] = field(
        default_factory=dict[n.RecordDef, RecordFacts]
    )
    shapes: Mapping[Shape, tuple[str, str]] = field(default_factory=dict[Shape, tuple[str, str]])
    name: str = ""


@dataclass(frozen=True, slots=True)
class SaftModule:
    """A sibling script: its facts, its source, and its absolute name."""

    facts: Facts
    source: Source
    name: str


@dataclass(frozen=True, slots=True)
class ServerModule:
    """An MCP server. `tools` maps the name of each tool to its entry in the lock file."""

    tools: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class MissingModule:
    """A module that was not found in the `searched` places.

    `beside`: the relative name of a module of the same name in the script's package, if any.
    """

    searched: tuple[str, ...]
    beside: str | None = None


@dataclass(frozen=True, slots=True)
class BrokenModule:
    """A module that cannot be imported, such as a script with errors or in an import cycle."""

    problem: str
    hint: str


Loaded = PythonModule | SaftModule | ServerModule | MissingModule | BrokenModule
Loader = Callable[[str], Loaded]


def no_modules(name: str) -> Loaded:
    """A loader for a script outside any project: every module is a Python module."""
    return outside(name, "") if name.startswith(".") else PythonModule()


def outside(written: str, importing: str) -> BrokenModule:
    """The error for a relative import that leads out of the script's packages.

    `written`: the relative name. `importing`: the absolute name of the script.
    """
    bare = written.lstrip(".")
    if "." in importing:
        return BrokenModule(
            f"`{written}` leaves the top package of this script, which is `{importing}`",
            "one dot is the package of the script, each further dot the package around it",
        )
    return BrokenModule(
        f"`{written}` needs a package, and this script is not in one",
        (f"write `{bare}`, or " if bare else "")
        + "make its folder a package: put an `__init__.py` there, or have pyproject.toml name the "
        'folder above: [tool.saft] root = "src"',
    )


def link_imports(
    module: n.Module, facts: Facts, load: Loader, mistakes: Collector
) -> list[n.ImportStmt | n.FromImport]:
    """Links imported names in `facts`, and adds the facts of sibling scripts.

    Returns the imports whose module was found.
    """
    found: list[n.ImportStmt | n.FromImport] = []
    for statement in nodes_of(module, n.ImportStmt, n.FromImport):
        loaded = load(statement.module.text)
        if isinstance(loaded, SaftModule | PythonModule) and loaded.name:
            facts.note_module(statement.module, loaded.name)
        match loaded:
            case MissingModule():
                _report_missing(statement, loaded, mistakes)
            case BrokenModule():
                mistakes.add(
                    catalogue.BROKEN_MODULE.at(
                        statement.module.span, problem=loaded.problem, hint=loaded.hint
                    )
                )
            case SaftModule():
                facts.siblings.add(statement.module.text)
                facts.named_scripts[statement.module] = loaded.facts
                _take_over(facts, loaded)
                if isinstance(statement, n.FromImport):
                    _link_names(statement.names, loaded, facts, mistakes)
                    # Imports inside a block are local to it.
                    if statement in module.statements:
                        _note_conversions(statement.names, module, facts)
                elif statement.alias is not None or "." not in statement.module.text:
                    # `import a.b` binds `a`.
                    _link_module(facts.names.of(bound_by(statement)[0]), statement, loaded, facts)
            case ServerModule():
                pass  # these imports never name a server
            case PythonModule(scripts, is_beside):
                if is_beside:
                    facts.siblings.add(statement.module.text)
                _link_python(statement, loaded, facts, mistakes)
                if isinstance(statement, n.FromImport):
                    _link_scripts(statement, scripts, facts, load, mistakes)
        if isinstance(loaded, SaftModule | PythonModule):
            found.append(statement)
    facts.bound_once = _assigned_once(module, facts)
    return found


def _assigned_once(module: n.Module, facts: Facts) -> dict[Symbol, n.Expression]:
    """Maps each unannotated variable with a single assignment to the assigned value.

    Variables whose value depends on the variable itself are excluded.
    """
    assignments = sole_assignments(module, facts.names).items()
    alone = {symbol: one.value for symbol, one in assignments if one.schema is None}
    sources = {symbol: _source(value, facts) for symbol, value in alone.items()}
    is_first: dict[Symbol | None, bool] = {}
    for symbol in alone:
        # A variable that is met again before its value is known depends on itself.
        seen = dict[Symbol, None]()
        source: Symbol | None = symbol
        while source in alone and source not in is_first and source not in seen:
            seen[source] = None
            source = sources[source]
        is_first.update(dict.fromkeys(seen, is_first.get(source, source not in seen)))
    return {symbol: value for symbol, value in alone.items() if is_first[symbol]}


def _source(value: n.Expression, facts: Facts) -> Symbol | None:
    """The variable that a value is, or of which it is a member or the result, if there is one."""
    while isinstance(value, n.Member | n.Call):
        value = value.value if isinstance(value, n.Member) else value.function
    return facts.names.of(value) if isinstance(value, n.Name) else None


def _link_python(
    statement: n.ImportStmt | n.FromImport,
    module: PythonModule,
    facts: Facts,
    mistakes: Collector,
) -> None:
    """Adds the declarations of a Python module, under the names that the script gives them."""
    if not any(module.records is known for known in facts.record_facts.maps):
        facts.record_facts.maps.append(module.records)
    facts.python_shapes = module.shapes
    if isinstance(statement, n.FromImport):
        for imported in statement.names:
            _link_python_name(imported, module, facts, mistakes)
        return
    symbol = facts.names.of(bound_by(statement)[0])
    members = module.first if statement.alias is None else module.members
    if facts.python.setdefault(symbol, members or UNKNOWN) is not (members or UNKNOWN):
        facts.python[symbol] = UNKNOWN  # another import of the same name


def _link_python_name(
    imported: n.ImportedName, module: PythonModule, facts: Facts, mistakes: Collector
) -> None:
    symbol, name = facts.names.of(imported.alias or imported.name), imported.name.text
    declared = UNKNOWN if module.members is None else module.members.find(name)
    if declared is None and module.members is not None and name not in module.scripts:
        _report_unknown(imported, symbol, module.members.names(), mistakes)
    if symbol.node is not imported:
        # Another import of the same name comes before it, on some path at least.
        facts.python[symbol] = UNKNOWN
        facts.imported.pop(symbol, None)
        return
    facts.python[symbol] = declared or UNKNOWN
    schema = declared.schema if isinstance(declared, PythonClass | Alias) else None
    if isinstance(declared, PythonClass) and declared.definition is not None:
        facts.imported[symbol] = Symbol(name, "record", None, declared.definition)
        facts.records[symbol.name] = facts.record_facts[declared.definition]
    elif schema is not None:
        facts.aliases[symbol.name] = schema


def _link_scripts(
    statement: n.FromImport,
    scripts: frozenset[str],
    facts: Facts,
    load: Loader,
    mistakes: Collector,
) -> None:
    """Links the scripts of `from folder import script`."""
    for imported in statement.names:
        if imported.name.text not in scripts:
            continue
        module = f"{facts.module_behind(statement.module)}.{imported.name.text}"
        match load(module):
            case SaftModule() as sibling:
                facts.named_scripts[imported.name] = sibling.facts
                _take_over(facts, sibling)
                symbol = facts.names.of(imported.alias or imported.name)
                _link_module(symbol, imported, sibling, facts)
            case BrokenModule(problem, hint):
                mistakes.add(
                    catalogue.BROKEN_MODULE.at(imported.name.span, problem=problem, hint=hint)
                )
            case PythonModule() | ServerModule() | MissingModule():
                pass


def _report_unknown(
    imported: n.ImportedName, symbol: Symbol, known: Iterable[str], mistakes: Collector
) -> None:
    """Reports that a module has no name `imported`, and no more about its `symbol`."""
    name = imported.name
    hint = did_you_mean(name.text, known)
    mistakes.add(catalogue.UNKNOWN_NAME.at(name.span, name=name.text, hint=hint))
    symbol.is_read = True


def report_unused(
    imports: Iterable[n.ImportStmt | n.FromImport], facts: Facts, mistakes: Collector
) -> None:
    """Warns about unused imported names, and records them in `facts.unused_imports`."""
    for definition in nodes_of(facts.module, n.FunctionDef):
        symbol = facts.names.of(definition.name)
        # The function of an imported tool has the span of its name in the import.
        is_tool = definition.span == definition.name.span
        if is_tool and not symbol.is_read and not symbol.name.startswith("_"):
            facts.unused_imports.add(definition.span)
            mistakes.add(
                catalogue.UNUSED_NAME.at(definition.span, name=symbol.name, hint="remove it")
            )
    for statement in imports:
        for identifier in bound_by(statement):
            symbol = facts.names.of(identifier)
            if not symbol.is_read and not symbol.name.startswith("_"):
                hint = Hint("remove it", edits=(_removal(statement, identifier),))
                facts.unused_imports.add(identifier.span)
                mistakes.add(catalogue.UNUSED_NAME.at(identifier.span, name=symbol.name, hint=hint))


def later_imports(module: n.Module) -> frozenset[n.Statement]:
    """The imports that must run at their place, because statements with effects come before them.

    All other imports can be emitted at the top of the module, sorted.
    """
    statements = iter(module.statements)
    for statement in statements:
        if not (_is_import(statement) or _only_defines(statement)):
            break
    return frozenset(filter(_is_import, statements))


def _is_import(statement: n.Statement) -> bool:
    return isinstance(statement, n.ImportStmt | n.FromImport)


def _only_defines(statement: n.Statement) -> bool:
    """Whether a statement is a definition whose defaults are plain values.

    If so, moving an import across the statement makes no visible difference.
    """
    match statement:
        case n.TypeAlias() | n.ServerImport():
            return True
        case n.FunctionDef(defaults=defaults) | n.RecordDef(defaults=defaults):
            return all(map(is_constant, defaults))
        case _:
            return False


def _removal(statement: n.ImportStmt | n.FromImport, bound: n.Identifier) -> Edit:
    """The edit that removes a name from an import, or the whole import if no other name is left."""
    if isinstance(statement, n.ImportStmt) or len(statement.names) == 1:
        return Edit(statement.span, "")
    spans = [one.span for one in statement.names]
    place = next(i for i, one in enumerate(statement.names) if bound in (one.name, one.alias))
    if place:
        return Edit(Span(spans[place - 1].end, spans[place].end), "")
    return Edit(Span(spans[0].start, spans[1].start), "")


def _note_conversions(names: Iterable[n.ImportedName], module: n.Module, facts: Facts) -> None:
    """Marks imported conversions as used if the script has programs, which may call conversions."""
    if not any(node.mode == "program" for node in nodes_of(module, n.Prompt)):
        return
    for imported in names:
        symbol = facts.names.of(imported.alias or imported.name)
        definition = facts.meaning_of(symbol).node
        if isinstance(definition, n.FunctionDef) and definition.is_conversion:
            symbol.is_read = True


def _report_missing(
    statement: n.ImportStmt | n.FromImport, missing: MissingModule, mistakes: Collector
) -> None:
    name, places = statement.module, ", ".join(missing.searched[:4])
    last = name.text.rpartition(".")[2]
    hint: Hint | str | None = (
        f"write `{last}.saft` or `{last}.py` beside the script, or install the package; "
        f"looked in {places}"
        if places
        else None
    )
    if missing.beside is not None and isinstance(statement, n.FromImport):
        hint = Hint(
            f"to import one of the same package, write `from {missing.beside} import ...`",
            edits=(Edit(name.span, missing.beside),),
        )
    elif missing.beside is not None:
        written = f"from . import {missing.beside[1:]}"
        edit = Edit(Span(statement.span.start, name.span.end), written)
        hint = Hint(f"to import one of the same package, write `{written}`", edits=(edit,))
    mistakes.add(catalogue.MISSING_MODULE.at(name.span, name=name.text, hint=hint))


def _take_over(facts: Facts, sibling: SaftModule) -> None:
    other, module = sibling.facts, sibling.name
    facts.sources |= {**other.sources, **dict.fromkeys(other.functions.maps[0], sibling.source)}
    texts = (sibling.source, *other.script_sources)
    for script, text in zip((other, *other.scripts), texts, strict=True):
        if all(script is not one for one in facts.scripts):
            facts.scripts.append(script)
            facts.script_sources.append(text)
    _add_maps(facts.functions, other.functions)
    _add_maps(facts.record_facts, other.record_facts)
    defined = other.record_facts.maps[0].keys() - other.record_modules.keys()
    own = dict.fromkeys(defined, module)
    facts.record_modules = {**other.record_modules, **own, **facts.record_modules}
    facts.siblings.update(facts.record_modules.values())
    facts.python_shapes = facts.python_shapes or other.python_shapes
    facts.history.does |= {
        keeper for keeper in other.history.does if not isinstance(keeper, Symbol)
    }


def _add_maps(facts: ChainMap[Any, Any], others: ChainMap[Any, Any]) -> None:
    """Adds the maps of another script that these facts lack."""
    known = set(map(id, facts.maps))
    facts.maps += [one for one in others.maps if id(one) not in known]


def _link_module(symbol: Symbol, node: n.Node, sibling: SaftModule, facts: Facts) -> None:
    if symbol.node is node or facts.modules.get(symbol) is sibling.facts:
        facts.modules[symbol] = sibling.facts
    else:
        facts.modules.pop(symbol, None)  # another import of the same name


def _link_names(
    names: Iterable[n.ImportedName],
    loaded: SaftModule,
    facts: Facts,
    mistakes: Collector,
) -> None:
    for imported in names:
        symbol, name = facts.names.of(imported.alias or imported.name), imported.name.text
        target = loaded.facts.own_names.get(name)
        if target is None:
            _report_unknown(imported, symbol, loaded.facts.own_names, mistakes)
            continue
        meaning = loaded.facts.meaning_of(target)
        if meaning.kind in ("record", "function"):
            target = meaning
        if symbol.node is not imported and facts.imported.get(symbol) is not target:
            # Another import of the same name comes before it, on some path at least.
            facts.python[symbol] = UNKNOWN
            facts.imported.pop(symbol, None)
            continue
        if meaning.kind == "record":
            facts.records[symbol.name] = loaded.facts.records[name]
        elif name in loaded.facts.aliases:
            facts.aliases[symbol.name] = loaded.facts.aliases[name]
        if target in loaded.facts.python:
            facts.python[symbol] = loaded.facts.python[target]
        facts.imported[symbol] = target
        facts.lasting[target] = loaded.facts.lasting_type(target)
