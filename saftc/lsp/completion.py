"""Completions at an offset, and signature help for the call around the offset."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from saftc.check.facts import Facts
from saftc.driver import Checked
from saftc.lsp.definitions import occurrence_at
from saftc.lsp.hover import builtin, builtin_signature, of_symbol, record_signature, signature
from saftc.lsp.placeholder import PlaceholderScript, current_line_at, with_placeholder
from saftc.lsp.session import Script
from saftc.project.files import scripts_below
from saftc.project.finder import absolute_name, name_in, sibling
from saftc.syntax import nodes as n
from saftc.syntax.tokens import KEYWORDS
from saftc.types.builtins import BUILTINS, DATAFRAME_MEMBERS
from saftc.types.foreign import Namespace
from saftc.types.results import MEMBER_TYPES, MEMBERS, OPTIONS
from saftc.types.types import (
    ANY,
    BUILT_IN,
    DATAFRAME,
    DATES,
    STRING,
    FunctionType,
    ListType,
    ObjectType,
    RecordType,
    Type,
    members,
    show,
)

Kind = Literal["variable", "function", "type", "field", "option", "module", "keyword", "parameter"]
_WORDS = (
    *("f", "type", "conv", "from", "import", "try", "fail"),
    *("do", "program", "stream", "with", "after"),
)
# The formats that may follow the colon in a hole of a prompt, as in `{text:raw}`.
_FORMATS = {"raw": "a string, unchanged", "approve": "each call by the model waits for approval"}
_KINDS: dict[str, Kind] = {"function": "function", "record": "type", "type": "type"}


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion. `written` is the text to insert, if that is not `name`."""

    name: str
    kind: Kind
    detail: str = ""
    written: str | None = None
    doc: str = ""


def proposals(script: Script, offset: int) -> list[Completion]:
    """The completions at an offset.

    If several scopes define the same name, only the innermost definition is offered.
    """
    beginning = current_line_at(script, offset)
    if beginning.is_text:
        return []
    if beginning.open[-1:] == ["hole"] and beginning.kinds[-1:] == ["COLON"]:
        return [Completion(name, "keyword", detail) for name, detail in _FORMATS.items()]
    found: dict[str, Completion] = {}
    for one in _proposals(with_placeholder(script, beginning)):
        found.setdefault(one.name, one)
    return list(found.values())


def _proposals(place: PlaceholderScript) -> Iterator[Completion]:
    match place.way:
        case [*_, n.Member() as node, n.Identifier()]:
            yield from _members_of(place.script, node.value)
        case [*_, n.NamedSchema(text=text)] if "." in text:
            yield from _of_module(place.script, text.rpartition(".")[0])
        case [*_, n.NamedSchema()]:
            yield from _types(place.script)
        case [*_, n.FromImport(module=module), n.ImportedName(), n.Identifier()]:
            yield from _imported(place.script, module.text)
        case [*_, n.FromImport() | n.ImportStmt(), n.Identifier(text=text)]:
            yield from _modules(place.script) if "." not in text else ()
        case [*_, n.Prompt(), n.ObjectLiteral(), n.Field(), n.Identifier()]:
            for name, type_ in OPTIONS.items():
                yield Completion(name, "option", show(type_), f"{name}: ")
            yield Completion("tools", "option", "[function]", "tools: ")
        case [*_, n.Call() as call, n.Argument(name=None), n.Name()]:
            yield from _arguments(place.script, call)
            yield from _names(place)
        case [*_, n.Name()]:
            yield from _names(place)
        case _:
            pass  # the user is writing the name of a new definition: nothing to propose


def _types(script: Script) -> Iterator[Completion]:
    facts = script.checked.facts
    for name in (*facts.records, *facts.aliases):
        yield Completion(name, "type")
    yield from (
        Completion(name, "type") for name in (*BUILT_IN, *DATES, "Result", "ToolCall", "Usage")
    )


def _imported(script: Script, written: str) -> Iterator[Completion]:
    """Completions for the names that can be imported from another script or a Python module."""
    modules = script.modules
    module = absolute_name(written, name_in(modules.folder, Path(script.path))) or written
    path = sibling(module, modules.folder)
    if path is not None:
        yield from _own_names((modules.siblings.get(module) or modules.check(path, module)).facts)
        return
    library = modules.library.module(module)
    names = () if library is None else library.members.names()
    yield from (Completion(name, "variable", "Python") for name in names if name[:1] != "_")


def _modules(script: Script) -> Iterator[Completion]:
    """Completions for the scripts below a script's root, and for the Python modules in the root."""
    folder = script.modules.folder
    for file in sorted(map(Path, scripts_below(str(folder)))):
        name = ".".join(file.relative_to(folder).with_suffix("").parts)
        if str(file) != script.path and all(part.isidentifier() for part in name.split(".")):
            yield Completion(name, "module")
    for file in sorted(folder.glob("*.py")):
        if file.stem.isidentifier():
            yield Completion(file.stem, "module", "Python")


def _names(place: PlaceholderScript) -> Iterator[Completion]:
    for scope in place.scope.around():
        for symbol in scope.symbols.values():
            kind = _KINDS.get(symbol.kind, "variable")
            yield Completion(symbol.name, kind, of_symbol(place.script, symbol))
    for name, one in BUILTINS.items():
        yield Completion(name, "function", builtin_signature(one)[0], doc=builtin(name))
    yield from (Completion(word, "keyword") for word in (*KEYWORDS, *_WORDS))


def _arguments(script: Script, call: n.Call) -> Iterator[Completion]:
    """Completions for the parameters that the call does not give by name yet."""
    found = _taken(script, call)
    if found is None:
        return
    given = {one.name.text for one in call.arguments if one.name is not None}
    for name in found[1]:
        if name not in given and name.isidentifier():
            yield Completion(f"{name}:", "parameter", found[0], f"{name}: ")


def _own_names(facts: Facts) -> Iterator[Completion]:
    """Completions for the names that a script itself defines, which its importers can use."""
    for one in facts.own_names.values():
        if one.kind != "import":
            yield Completion(one.name, _KINDS.get(one.kind, "variable"))


def _of_module(script: Script, name: str) -> Iterator[Completion]:
    facts = script.checked.facts
    symbol = facts.names.scopes[script.module].symbols.get(name)
    if symbol is not None and symbol in facts.modules:
        yield from _own_names(facts.modules[symbol])


def _members_of(script: Script, node: n.Expression) -> Iterator[Completion]:
    """Completions for the members of the value before a dot."""
    checked, facts = script.checked, script.checked.facts
    symbol = facts.names.symbols.get(node) if isinstance(node, n.Name) else None
    if symbol is not None and symbol in facts.modules:
        yield from _own_names(facts.modules[symbol])
        return
    enum = facts.enum_of(node)
    if enum is not None:
        yield from (Completion(choice, "field") for choice in enum.choices)
        return
    # Fields that the script defines come before the members that every prompt's result has.
    known = members(facts.types.get(node, ANY))
    own = [one for one in known if isinstance(one, ObjectType | RecordType)]
    for member in own:
        yield from _fields(checked, member)
    if facts.result_of(node) is not None:
        for name in MEMBERS:
            yield Completion(name, "field", show(MEMBER_TYPES.get(name, ANY)))
    for member in known:
        if member not in own:
            yield from _fields(checked, member)
    declared = facts.declared_by_python(node)
    if isinstance(declared, Namespace):
        yield from (
            Completion(one, "variable", "Python") for one in declared.names() if one[0] != "_"
        )


def _fields(checked: Checked, type_: Type) -> Iterator[Completion]:
    match type_:
        case ObjectType(fields=fields):
            for one in fields:
                yield Completion(one.name, "field", show(one.type), doc=one.doc or "")
        case RecordType():
            for name, field in checked.facts.fields_of(type_).items():
                yield Completion(name, "field", show(field))
        case _ if type_ == DATAFRAME:
            for name, field in DATAFRAME_MEMBERS.items():
                yield Completion(name, "field", show(field))
        case _ if type_ == STRING or isinstance(type_, ListType):
            yield Completion("length", "field", "int")
        case _:
            pass


# Calls


# A signature: its text, the names of its parameters (in Python as in `*names`), the parameters as
# they are written in the text, and the documentation.
_Taken = tuple[str, list[str], list[str], str]


@dataclass(frozen=True, slots=True)
class SignatureHelp:
    """The signature `head` of a called function, with its parameters as written in `head`.

    `active` is the index of the parameter that gets the argument at the cursor.
    """

    head: str
    parameters: list[str]
    active: int | None
    doc: str


def call_at(script: Script, offset: int) -> SignatureHelp | None:
    """Signature help for the innermost call that has an offset in its arguments."""
    beginning = current_line_at(script, offset)
    if "$" in beginning.open[-1:]:
        return None
    place = with_placeholder(script, beginning)
    for call, argument in reversed(list(pairwise(place.way))):
        if isinstance(call, n.Prompt):
            return None
        if isinstance(call, n.Call) and isinstance(argument, n.Argument):
            found = _taken(place.script, call)
            return None if found is None else _taking(found, call, argument)
    return None


def _taking(found: _Taken, call: n.Call, argument: n.Argument) -> SignatureHelp:
    head, names, parameters, doc = found
    active: int | None = call.arguments.index(argument)
    if argument.name is not None:
        named = argument.name.text
        active = names.index(named) if named in names else None
    elif active >= len(parameters):
        active = len(parameters) - 1 if "..." in head else None
    return SignatureHelp(head, parameters, active, doc)


def _taken(script: Script, call: n.Call) -> _Taken | None:
    """The signature of a call's function. The result is None if the function is unknown."""
    facts, function = script.checked.facts, call.function
    symbol = facts.names.symbols.get(function)
    if symbol is not None and symbol.kind == "builtin":
        head, parameters = builtin_signature(BUILTINS[symbol.name])
        return head, BUILTINS[symbol.name].names, parameters, builtin(symbol.name)
    type_ = facts.types.get(function)
    if isinstance(type_, FunctionType):
        node, home = type_.definition, _home_of(script, type_.definition)
        head, parameters = signature(facts.functions[node], home.source)
        names = [one.name.text for one in node.parameters]
        return head, names, parameters, home.module.docs.get(node, "")
    record = facts.record_of(function)
    if record is not None and record.module is None:
        home = _home_of(script, record.node)
        head, parameters = record_signature(record, home.source)
        return head, list(record.fields), parameters, home.module.docs.get(record.node, "")
    if record is not None:
        names = list(record.fields)
        return f"{record.node.name.text}({', '.join(names)})", names, names, ""
    return _taken_by_python(script, function)


def _home_of(script: Script, node: n.Statement) -> Checked:
    """The script that defines a function or type, which may be an imported one."""
    others = (one for one in script.modules.siblings.values() if one is not None)
    found = (one for one in others if any(node is own for own in one.module.statements))
    return next(found, script.checked)


def _taken_by_python(script: Script, function: n.Expression) -> _Taken | None:
    named = occurrence_at(script, function.span.end)
    found = None if named is None else named.target.location
    if found is None or not found.head.startswith("def "):
        return None
    inside = found.head[found.head.index("(") + 1 : found.head.rindex(")")]
    parameters = _split(inside)
    names = [one.split(":")[0].split("=")[0].strip() for one in parameters]
    return found.head, names, parameters, found.doc


def _split(text: str) -> list[str]:
    """Splits a text at commas outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
