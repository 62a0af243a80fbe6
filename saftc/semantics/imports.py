"""Imports: what the imported names are.

A sibling script is compiled with the importing one: its functions, types and values keep what is
known of them. Anything else is a Python module: a name of it is any value, and calls of it are
plain Python calls, which give what the functions are annotated with. Where modules are looked for
is not decided here: a `Loader` is asked.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.diagnostics.near import did_you_mean
from saftc.semantics.facts import Facts, RecordFacts
from saftc.semantics.names import Symbol
from saftc.semantics.types import ANY, Type, record_type
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of


@dataclass(frozen=True, slots=True)
class PythonNames:
    """What a Python module declares: the types of what its functions give, as far as they are
    annotated, its classes with fields as records, and names for types.
    """

    returns: Mapping[str, Type] = field(default_factory=dict[str, Type])
    records: Mapping[str, RecordFacts] = field(default_factory=dict[str, RecordFacts])
    aliases: Mapping[str, Type] = field(default_factory=dict[str, Type])


@dataclass(frozen=True, slots=True)
class PythonModule:
    """A module that Python will find; `scripts` are those in its folder, when it is one."""

    scripts: frozenset[str] = frozenset()
    is_beside: bool = False
    names: PythonNames = field(default_factory=PythonNames)


@dataclass(frozen=True, slots=True)
class SaftModule:
    """A sibling script, by what is known of it, and its text."""

    facts: Facts
    source: Source


@dataclass(frozen=True, slots=True)
class MissingModule:
    """There is no such module; `searched` are the places that were looked at."""

    searched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BrokenModule:
    """A sibling script that cannot be used: it has errors, or imports this one in turn."""

    problem: str
    hint: str


Loaded = PythonModule | SaftModule | MissingModule | BrokenModule
Loader = Callable[[str], Loaded]


def no_modules(_name: str) -> Loaded:
    """The loader of a script that has no surroundings: every module is Python's."""
    return PythonModule()


def link_imports(module: n.Module, facts: Facts, load: Loader, mistakes: Collector) -> None:
    """Fills `facts.imported` and takes over what is known of sibling scripts."""
    for statement in nodes_of(module):
        if not isinstance(statement, n.ImportStmt | n.FromImport):
            continue
        loaded = load(statement.module.text)
        match loaded:
            case MissingModule():
                _report_missing(statement.module, loaded, mistakes)
            case BrokenModule():
                mistakes.add(
                    catalogue.BROKEN_MODULE.at(
                        statement.module.span, problem=loaded.problem, hint=loaded.hint
                    )
                )
            case SaftModule():
                facts.siblings.add(statement.module.text)
                _take_over(facts, loaded, statement.module.text)
                if isinstance(statement, n.FromImport):
                    _link_names(statement.module.text, statement.names, loaded, facts, mistakes)
                    # Those that a block imports are its own.
                    if statement in module.statements:
                        _note_conversions(statement.names, module, facts)
                elif statement.alias is not None or "." not in statement.module.text:
                    # `import a.b` binds `a`.
                    facts.modules[facts.names.of(_bound(statement))] = loaded.facts
            case PythonModule(scripts, is_beside):
                if is_beside:
                    facts.siblings.add(statement.module.text)
                _link_python(statement, loaded.names, facts)
                if isinstance(statement, n.FromImport):
                    _link_scripts(statement, scripts, facts, load, mistakes)
        if isinstance(loaded, SaftModule | PythonModule):
            _report_unused(statement, facts, mistakes)


def _link_python(
    statement: n.ImportStmt | n.FromImport, python: PythonNames, facts: Facts
) -> None:
    """Takes over what a Python module declares, under the names that the script has for it."""
    for record in python.records.values():
        facts.record_facts[record.node] = record
        facts.record_modules[record.node] = statement.module.text
    if isinstance(statement, n.FromImport):
        for imported in statement.names:
            _link_python_name(imported, python, facts)
    elif statement.alias is not None or "." not in statement.module.text:
        symbol = facts.names.of(_bound(statement))
        made = {name: record_type(record.node) for name, record in python.records.items()}
        for name, type_ in {**python.returns, **made}.items() if symbol.node is statement else ():
            facts.python_returns[symbol, name] = type_


def _link_python_name(imported: n.ImportedName, python: PythonNames, facts: Facts) -> None:
    symbol, name = facts.names.of(imported.alias or imported.name), imported.name.text
    if symbol.node is not imported:
        # Another import of the same name comes before it, on some way at least.
        facts.python_returns[symbol, ""] = ANY
        facts.imported.pop(symbol, None)
        return
    facts.python_returns[symbol, ""] = python.returns.get(name, ANY)
    record, alias = python.records.get(name), python.aliases.get(name)
    if record is not None:
        facts.imported[symbol] = Symbol(name, "record", None, record.node)
        facts.records[symbol.name] = record
    elif alias is not None:
        facts.aliases[symbol.name] = alias


def _link_scripts(
    statement: n.FromImport,
    scripts: frozenset[str],
    facts: Facts,
    load: Loader,
    mistakes: Collector,
) -> None:
    """`from folder import script`."""
    for imported in statement.names:
        if imported.name.text not in scripts:
            continue
        module = f"{statement.module.text}.{imported.name.text}"
        match load(module):
            case SaftModule() as sibling:
                _take_over(facts, sibling, module)
                facts.modules[facts.names.of(imported.alias or imported.name)] = sibling.facts
            case BrokenModule(problem, hint):
                mistakes.add(
                    catalogue.BROKEN_MODULE.at(imported.name.span, problem=problem, hint=hint)
                )
            case PythonModule() | MissingModule():
                pass


def _report_unused(
    statement: n.ImportStmt | n.FromImport, facts: Facts, mistakes: Collector
) -> None:
    bound = (
        [imported.alias or imported.name for imported in statement.names]
        if isinstance(statement, n.FromImport)
        else [_bound(statement)]
    )
    for identifier in bound:
        symbol = facts.names.of(identifier)
        if not symbol.is_read and not symbol.name.startswith("_"):
            mistakes.add(
                catalogue.UNUSED_NAME.at(identifier.span, name=symbol.name, hint="remove it")
            )


def _bound(statement: n.ImportStmt) -> n.Identifier:
    return statement.alias or statement.module


def _note_conversions(names: Iterable[n.ImportedName], module: n.Module, facts: Facts) -> None:
    """Programs use the conversions of a script without naming them."""
    if not any(isinstance(node, n.Prompt) and node.mode == "program" for node in nodes_of(module)):
        return
    for imported in names:
        symbol = facts.names.of(imported.alias or imported.name)
        definition = facts.meaning_of(symbol).node
        if isinstance(definition, n.FunctionDef) and definition.is_conversion:
            symbol.is_read = True


def _report_missing(name: n.Identifier, missing: MissingModule, mistakes: Collector) -> None:
    places = ", ".join(missing.searched[:4])
    mistakes.add(
        catalogue.MISSING_MODULE.at(
            name.span, name=name.text, hint=f"looked in {places}" if places else None
        )
    )


def _take_over(facts: Facts, sibling: SaftModule, module: str) -> None:
    other = sibling.facts
    facts.sources |= {**other.sources, **dict.fromkeys(other.functions.maps[0], sibling.source)}
    facts.scripts += [one for one in (other, *other.scripts) if one not in facts.scripts]
    known = set(map(id, facts.functions.maps))
    facts.functions.maps += [table for table in other.functions.maps if id(table) not in known]
    known = set(map(id, facts.record_facts.maps))
    facts.record_facts.maps += [t for t in other.record_facts.maps if id(t) not in known]
    defined = other.record_facts.maps[0].keys() - other.record_modules.keys()
    own = dict.fromkeys(defined, module)
    facts.record_modules = {**other.record_modules, **own, **facts.record_modules}
    facts.history.does |= {
        keeper for keeper in other.history.does if not isinstance(keeper, Symbol)
    }


def _link_names(
    module: str,
    names: Iterable[n.ImportedName],
    loaded: SaftModule,
    facts: Facts,
    mistakes: Collector,
) -> None:
    for imported in names:
        symbol, name = facts.names.of(imported.alias or imported.name), imported.name.text
        target = loaded.facts.own_names.get(name)
        if target is None:
            mistakes.add(
                catalogue.UNKNOWN_NAME.at(
                    imported.name.span,
                    name=imported.name.text,
                    hint=did_you_mean(imported.name.text, loaded.facts.own_names),
                )
            )
            continue
        if target.kind == "import" and not target.is_read:
            # A module has no names that it imports and does not use.
            hint = f"`{module}` imports it and does not use it: import it from where it comes"
            mistakes.add(
                catalogue.UNKNOWN_NAME.at(imported.name.span, name=imported.name.text, hint=hint)
            )
            continue
        meaning = loaded.facts.meaning_of(target)
        if meaning.kind == "record":
            target = meaning
            facts.records[symbol.name] = loaded.facts.records[name]
        elif name in loaded.facts.aliases:
            facts.aliases[symbol.name] = loaded.facts.aliases[name]
        if (target, "") in loaded.facts.python_returns:
            facts.python_returns[symbol, ""] = loaded.facts.python_returns[target, ""]
        facts.imported[symbol] = target
        facts.lasting[target] = loaded.facts.lasting_type(target)
