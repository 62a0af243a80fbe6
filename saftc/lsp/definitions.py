"""Finds the node at an offset, and the definition of each name in a script.

A definition is identified by its path and its position. So the targets of two references to it are
equal, even if the references are in different scripts, or in an old and a new tree of a script.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from saftc.check.facts import Facts
from saftc.check.names import Symbol
from saftc.lsp.session import Script, Session
from saftc.project.finder import sibling
from saftc.project.python.library import Location
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import children, walk
from saftc.types.foreign import Namespace
from saftc.types.types import FunctionType, RecordType, Type, members


@dataclass(frozen=True, slots=True)
class Target:
    """The definition of a name: the `span` of the script or Python module at `path`.

    If `is_local`, no other script can refer to the definition. `location` has what is known of one
    in a Python module.
    """

    path: str
    span: Span
    name: str
    kind: Literal["name", "field", "module", "python"]
    is_local: bool = False
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at a place in a script, with its definition."""

    span: Span
    target: Target
    node: n.Node


def path_to_offset(module: n.Module, offset: int) -> list[n.Node]:
    """The nodes that contain an offset, outermost first.

    If one node ends and another begins at the offset, the second one is taken.
    """
    way: list[n.Node] = [module]
    while True:
        around = [one for one in children(way[-1]) if one.span.start <= offset <= one.span.end]
        if not around:
            return way
        way.append(around[-1])


def occurrences(script: Script) -> list[Occurrence]:
    """The names in a script, in order of the text."""
    finder = _DefinitionFinder(script)
    found: dict[Span, Occurrence] = {}
    for node in script.nodes:
        for one in finder.at(node):
            found.setdefault(one.span, one)
    return sorted(found.values(), key=lambda one: one.span)


def occurrence_at(script: Script, offset: int) -> Occurrence | None:
    """The name that contains an offset or ends there."""
    finder = _DefinitionFinder(script)
    for node in reversed(path_to_offset(script.module, offset)):
        for one in finder.at(node):
            if one.span.start <= offset <= one.span.end:
                return one
    return None


def references(session: Session, script: Script, target: Target) -> Iterator[tuple[Script, Span]]:
    """The references to a definition, in its script and in all scripts that can refer to it."""
    scripts = [script] if target.is_local else session.around(script.path, target.name)
    for one in scripts:
        for occurrence in occurrences(one):
            if occurrence.target == target:
                yield one, occurrence.span


def renamed(session: Session, script: Script, found: Occurrence) -> Iterator[tuple[Script, Span]]:
    """The places to edit, with their scripts, to rename the name at `found`.

    If `found` is an alias of an import, only the uses of the alias in its script are renamed.
    Otherwise aliases stay as they were.
    """
    written_here = script.source.at(found.span)
    named = references(session, script, found.target)
    for one, span in named:
        is_alias = written_here != found.target.name and one.path != script.path
        if one.source.at(span) == written_here and not is_alias:
            yield one, span


def name_conflict(script: Script, span: Span, name: str) -> Symbol | None:
    """The symbol called `name` that is in scope at `span`; None if the name is free there.

    A builtin counts if the script uses it.
    """
    names = script.checked.facts.names
    for scope in names.scopes.values():
        around = scope.owner.span
        if around.start <= span.start <= around.end and name in scope.symbols:
            return scope.symbols[name]
    used = (one for one in names.symbols.values() if one.kind == "builtin")
    return next((one for one in used if one.name == name), None)


def source_of(session: Session, target: Target) -> Source:
    """The source of the script or Python module that contains a definition."""
    if target.location is not None:
        return target.location.source
    return session.script(target.path).source


def introduced_by(symbol: Symbol) -> n.Identifier | None:
    """The identifier that introduces a symbol in a script; None if no identifier does."""
    match symbol.node:
        case (
            n.FunctionDef(name=name)
            | n.RecordDef(name=name)
            | n.TypeAlias(name=name)
            | n.AssignStmt(name=name)
            | n.AugmentedAssignStmt(name=name)
            | n.Parameter(name=name)
        ):
            return name
        case n.ImportStmt():
            return symbol.node.alias or symbol.node.module
        case n.ImportedName():
            return symbol.node.alias or symbol.node.name
        case n.TryStmt(error=error):
            return error
        case None:
            return None
        case node:
            inner = (one for one in walk(node) if isinstance(one, n.Identifier))
            return next((one for one in inner if one.text == symbol.name), None)


class _DefinitionFinder:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.facts: Facts = script.checked.facts
        self.homes: dict[n.Node, str] = {}
        own = [(script.path, script.checked)]
        others = ((one.source.name, one) for one in script.modules.siblings.values() if one)
        for path, checked in (*others, *own):
            self.homes[checked.module] = path
            self.homes |= dict.fromkeys(checked.module.statements, path)
        self.homes |= {
            node: script.path
            for node in script.nodes
            if isinstance(node, n.FunctionDef | n.RecordDef | n.TypeAlias)
        }
        self.origins = {
            imported: self.facts.module_behind(statement.module)
            for statement in script.nodes
            if isinstance(statement, n.FromImport)
            for imported in statement.names
        }

    def at(self, node: n.Node) -> Iterator[Occurrence]:
        """The names that are part of a node itself, with their definitions.

        Names in child nodes of the node are left out.
        """
        found: list[tuple[Span, Target | None]] = []
        match node:
            case n.Name():
                found.append((node.span, self._symbol(self.facts.names.symbols.get(node))))
            case n.ImportStmt(module=module, alias=alias):
                found.append((module.span, self._module(self.facts.module_behind(module))))
                if alias is not None:
                    found.append((alias.span, self._module(self.facts.module_behind(module))))
            case n.FromImport(module=module):
                found.append((module.span, self._module(self.facts.module_behind(module))))
            case n.ImportedName(name=name, alias=alias):
                target = self._symbol(self.facts.names.symbols.get(alias or name))
                found += [(one.span, target) for one in (name, alias) if one is not None]
            case n.Identifier():
                found.append((node.span, self._symbol(self.facts.names.symbols.get(node))))
            case n.Member():
                found.append((node.name.span, self._member(node)))
            case n.Call():
                found += [
                    (argument.name.span, self._parameter(node, argument.name.text))
                    for argument in node.arguments
                    if argument.name is not None
                ]
            case n.NamedSchema():
                last = node.text.rpartition(".")[2]
                span = Span(node.span.end - len(last), node.span.end)
                found.append((span, self._type(node.text)))
            case _:
                pass
        for span, target in found:
            if target is not None:
                yield Occurrence(span, target, node)

    def _symbol(self, symbol: Symbol | None) -> Target | None:
        if symbol is None:
            return None
        while symbol.starts_from is not None:
            symbol = symbol.starts_from
        if symbol.kind == "import" and symbol not in self.facts.imported:
            return self._imported(symbol)
        if symbol in self.facts.python and symbol.kind == "import":
            return self._imported(symbol)
        return self._own(self.facts.meaning_of(symbol))

    def _own(self, symbol: Symbol) -> Target | None:
        """The definition of a symbol that a script introduces."""
        place = introduced_by(symbol)
        scope = symbol.scope
        if place is None or scope is None:
            return None
        while scope.parent is not None:
            scope = scope.parent
        path = self.homes.get(scope.owner)
        is_parameter = symbol.kind in ("parameter", "field")
        is_local = symbol.scope is not scope and not is_parameter
        kind = "field" if symbol.kind == "field" else "name"
        return None if path is None else Target(path, place.span, symbol.name, kind, is_local)

    def _imported(self, symbol: Symbol) -> Target | None:
        """The definition of an imported name: a module, or a name in a Python module."""
        match symbol.node:
            case n.ImportStmt(module=module, alias=alias):
                name = module.text if alias is not None else module.text.split(".")[0]
                return self._module(name)
            case n.ImportedName(name=name) if symbol.node in self.origins:
                module = self.origins[symbol.node]
                if symbol in self.facts.modules:
                    return self._module(f"{module}.{name.text}")
                return self._python(module, name.text)
            case _:
                return None

    def _module(self, name: str) -> Target | None:
        path = sibling(name, self.script.modules.folder)
        if path is not None:
            return Target(str(path), Span(0, 0), name.rpartition(".")[2], "module")
        return self._python(name, None)

    def _python(self, module: str, name: str | None) -> Target | None:
        found = self.script.originals.written(module, name)
        if found is None:
            return None
        return Target(found.source.name, found.span, name or module, "python", location=found)

    def _member(self, node: n.Member) -> Target | None:
        own = self.facts.member_of_module(node)
        if own is not None:
            return self._own(self.facts.modules[self.facts.names.of(node.value)].meaning_of(own))
        module = self._module_named(node.value)
        if module is not None:
            return self._python(module, node.name.text)
        return self._field(self.facts.types.get(node.value), node.name.text)

    def _module_named(self, node: n.Expression) -> str | None:
        """The name of the Python module to which an expression refers; None if there is none."""
        match node:
            case n.Name():
                symbol = self.facts.names.symbols.get(node)
                statement = None if symbol is None else symbol.node
                if not isinstance(statement, n.ImportStmt):
                    return None
                module = statement.module.text
                return module if statement.alias is not None else module.split(".")[0]
            case n.Member(value=value, name=name):
                outer = self._module_named(value)
                is_module = isinstance(self.facts.declared_by_python(node), Namespace)
                return f"{outer}.{name.text}" if outer and is_module else None
            case _:
                return None

    def _field(self, type_: Type | None, name: str) -> Target | None:
        for member in () if type_ is None else members(type_):
            if isinstance(member, RecordType) and member.definition is not None:
                return self._named_in(member.definition, member.definition.fields, name, "field")
        return None

    def _parameter(self, call: n.Call, name: str) -> Target | None:
        type_ = self.facts.types.get(call.function)
        if isinstance(type_, FunctionType):
            return self._named_in(type_.definition, type_.definition.parameters, name, "name")
        record = self.facts.record_of(call.function)
        if record is not None and record.module is None:
            return self._named_in(record.node, record.node.fields, name, "field")
        return None

    def _named_in(
        self,
        owner: n.Node,
        parameters: tuple[n.Parameter, ...],
        name: str,
        kind: Literal["name", "field"],
    ) -> Target | None:
        path = self.homes.get(owner)
        found = next((one for one in parameters if one.name.text == name), None)
        if path is None or found is None:
            return None
        return Target(path, found.name.span, name, kind)

    def _type(self, text: str) -> Target | None:
        first, _, rest = text.partition(".")
        symbol = self.facts.own_names.get(first)
        if symbol is None or not rest:
            return self._symbol(symbol)
        sibling = self.facts.modules.get(symbol)
        if sibling is None:
            module, _, name = text.rpartition(".")
            return self._python(module, name)
        own = sibling.own_names.get(rest)
        return None if own is None else self._own(sibling.meaning_of(own))
