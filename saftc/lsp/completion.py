"""What may be written at an offset, and what the call takes that is written there."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Literal

from saftc.driver import Checked
from saftc.lsp.meanings import builtin, builtin_signature, of_symbol, record_signature, signature
from saftc.lsp.session import Script, Session
from saftc.lsp.surroundings import Context, Open, context_at, whole
from saftc.project.finder import absolute_name, name_in, sibling
from saftc.semantics.builtins import BUILTINS, DATAFRAME_MEMBERS
from saftc.semantics.foreign import Namespace
from saftc.semantics.names import Scope, Symbol
from saftc.semantics.results import MEMBER_TYPES, MEMBERS, OPTIONS
from saftc.semantics.types import (
    ANY,
    BUILT_IN,
    DATAFRAME,
    DATES,
    STRING,
    ListType,
    ObjectType,
    RecordType,
    Type,
    members,
    show,
)
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.tokens import KEYWORDS
from saftc.syntax.walk import nodes_of

Kind = Literal["variable", "function", "type", "field", "option", "module", "keyword", "parameter"]
_WORDS = (
    *("f", "type", "conv", "from", "import", "try", "fail"),
    *("do", "program", "stream", "with", "after"),
)
# Behind the colon of a hole.
_FORMATS = {"raw": "a text as it is", "approve": "each call by the model waits for a yes"}
_KINDS: dict[str, Kind] = {"function": "function", "record": "type", "type": "type"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A word that may be written; `written` is what is put in, where that is more."""

    name: str
    kind: Kind
    detail: str = ""
    written: str | None = None
    doc: str = ""


def proposals(session: Session, script: Script, offset: int) -> list[Proposal]:
    """What may be written at an offset, each name once, the nearest meaning first."""
    text = script.source.text
    start = offset
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    context = context_at(script.module, text, start)
    if context.is_text:
        return []
    found: dict[str, Proposal] = {}
    for one in _proposals(script, context, start):
        found.setdefault(one.name, one)
    return list(found.values())


def _proposals(script: Script, context: Context, offset: int) -> Iterator[Proposal]:
    before = [one.text for one in context.before]
    line = [one.text for one in context.open[0].inside]
    match before[-1:]:
        case ["."] if line[:1] in (["import"], ["from"]) and len(context.open) == 1:
            return
        case ["."]:
            yield from _members(script, context)
            return
        case _:
            pass
    if len(context.open) == 1 and line[:1] in (["import"], ["from"]):
        yield from _imports(script, line)
    elif _is_options(context):
        if before[-1:] in ([], [","]):
            yield from (
                Proposal(name, "option", show(type_), f"{name}: ")
                for name, type_ in OPTIONS.items()
            )
            yield Proposal("tools", "option", "[function]", "tools: ")
        else:
            yield from _names(script, offset)
    elif context.inner.what == "hole" and before[-1:] == [":"]:
        for name, detail in _FORMATS.items():
            yield Proposal(name, "keyword", detail)
    elif _wants_type(context):
        yield from _types(script)
    else:
        if context.call is context.inner and before[-1:] in ([], [","]):
            yield from _arguments(script, context, offset)
        yield from _names(script, offset)


def _is_options(context: Context) -> bool:
    return context.inner.what == "{" and [one.text for one in context.inner.before[-1:]] == ["with"]


def _wants_type(context: Context) -> bool:
    """Whether a type is written here: behind the `:` of a parameter or a name, behind `->`."""
    before = [one.text for one in context.before]
    line = [one.text for one in context.open[0].inside]
    outer = context.open[0]
    if before[-1:] == ["->"]:
        return True
    is_head = line[:1] in (["f"], ["type"], ["conv"])
    if is_head and line[:1] == ["type"] and "=" in line and len(context.open) == 1:
        return True
    inside = [one for one in context.open[1:] if one.what == "("]
    if is_head and inside and inside[0].before[:1] == outer.inside[:1]:
        last = next((one for one in reversed(before) if one in (":", ",", "=")), None)
        in_brackets = context.inner.what in ("[", "{") and len(context.open) > 2
        return last == ":" or (in_brackets and "=" not in [p.text for p in inside[0].inside])
    if len(context.open) == 1 and len(line) >= 2 and line[1] == ":" and line[0].isidentifier():
        return line[0] not in KEYWORDS and "=" not in line
    # `for draft: type in stream $ ... $`
    if len(context.open) == 1 and line[:1] == ["for"] and line[2:3] == [":"]:
        return "in" not in line
    # `{name: type} = $...$`
    return (
        len(context.open) == 2 and context.inner.what == "{" and not line and before[-1:] == [":"]
    )


def _types(script: Script) -> Iterator[Proposal]:
    facts = script.checked.facts
    for name in (*facts.records, *facts.aliases):
        yield Proposal(name, "type")
    yield from (
        Proposal(name, "type") for name in (*BUILT_IN, *DATES, "Result", "ToolCall", "Usage")
    )


def _imports(script: Script, line: list[str]) -> Iterator[Proposal]:
    modules = script.modules
    own = name_in(modules.folder, Path(script.path))
    if line[0] == "from" and "import" in line:
        module = "".join(line[1 : line.index("import")])
        module = absolute_name(module, own) or module
        path = sibling(module, modules.folder)
        if path is not None:
            checked = modules.siblings.get(module) or modules.check(path, module)
            for name, symbol in checked.facts.own_names.items():
                if symbol.kind != "import":
                    yield Proposal(name, _KINDS.get(symbol.kind, "variable"))
            return
        library = modules.library.module(module)
        names = () if library is None else library.members.names()
        yield from (Proposal(name, "variable", "Python") for name in names if name[:1] != "_")
        return
    if len(line) > 1:
        if line[0] == "from":
            yield Proposal("import", "keyword")
        return
    folder = modules.folder
    for file in sorted(folder.rglob("*.saft")):
        name = ".".join(file.relative_to(folder).with_suffix("").parts)
        if str(file) != script.path and all(part.isidentifier() for part in name.split(".")):
            yield Proposal(name, "module")
    for file in sorted(folder.glob("*.py")):
        if file.stem.isidentifier():
            yield Proposal(file.stem, "module", "Python")


# Names


def scope_at(script: Script, offset: int) -> Scope:
    """The innermost scope that an offset is in; behind the last line of a function's block, a
    line that is indented as the block still belongs to it."""
    facts, source = script.checked.facts, script.source
    line = source.line_text(source.line_of(offset))
    column = len(line) - len(line.lstrip(" "))
    found = facts.names.scopes[script.module]
    for node in script.nodes:
        if node.span.start > offset:
            break
        if not isinstance(node, n.FunctionDef | n.RecordDef | n.Comprehension | n.TryStmt):
            continue
        scope = facts.names.scopes.get(node)
        if scope is None:
            continue
        if (offset <= node.span.end and not isinstance(node, n.TryStmt)) or (
            isinstance(node, n.TryStmt) and node.handler[0].span.start <= offset <= node.span.end
        ):
            found = scope
        elif isinstance(node, n.FunctionDef):
            indent = source.position(node.span.start).column - 1
            between = source.text[node.span.end : offset].split("\n")
            stays = all(
                not one.strip() or len(one) - len(one.lstrip(" ")) > indent for one in between[1:]
            )
            if column > indent and stays:
                found = scope
    return found


def _names(script: Script, offset: int) -> Iterator[Proposal]:
    for scope in scope_at(script, offset).around():
        for symbol in scope.symbols.values():
            kind = _KINDS.get(symbol.kind, "variable")
            yield Proposal(symbol.name, kind, of_symbol(script, symbol))
    for name, one in BUILTINS.items():
        yield Proposal(name, "function", builtin_signature(one)[0], doc=builtin(name))
    yield from (Proposal(word, "keyword") for word in (*KEYWORDS, *_WORDS))


def _arguments(script: Script, context: Context, offset: int) -> Iterator[Proposal]:
    """The names of the arguments of a call that are not given yet."""
    found = _taken(script, context.inner, offset)
    if found is None:
        return
    inside = [one.text for one in context.inner.inside]
    given = {name for name, colon in pairwise(inside) if colon == ":"}
    for name in found[1]:
        if name not in given:
            yield Proposal(f"{name}:", "parameter", found[0], f"{name}: ")


# Members


def _members(script: Script, context: Context) -> Iterator[Proposal]:
    """What the value before a dot has."""
    pieces = context.before[:-1]
    start = _expression_start(script.source.text, pieces[-1].offset if pieces else 0, context)
    if not pieces or start is None:
        return
    checked, node = _checked_apart(script, start, context.before[-1].offset, context)
    if node is None:
        return
    yield from _members_of(script, checked, node)


def _expression_start(text: str, last: int, context: Context) -> int | None:
    """Where the expression begins that ends with the last piece."""
    pieces = context.before[:-1]
    index = len(pieces) - 1
    while index >= 0:
        piece = pieces[index].text
        if piece in (")", "]", "}"):
            # What is closed is left out, so the piece before it is what it belongs to.
            opener = _opener(text, pieces[index].offset)
            if opener is None:
                return None
            is_applied = index > 0 and _is_name(pieces[index - 1].text) and piece != "}"
            if not is_applied:
                return opener
            index -= 1
            continue
        if index > 1 and pieces[index - 1].text == ".":
            index -= 2
            continue
        return pieces[index].offset
    return None


def _opener(text: str, closer: int) -> int | None:
    depth, position = 0, closer
    while position >= 0:
        depth += (text[position] in ")]}") - (text[position] in "([{")
        if not depth:
            return position
        position -= 1
    return None


def _is_name(text: str) -> bool:
    return text.isidentifier() or text in (")", "]")


def _checked_apart(
    script: Script, start: int, end: int, context: Context
) -> tuple[Checked, n.Expression | None]:
    """The expression as a statement of its own above the line that it is on, in what is left
    of the comprehensions around it."""
    text = script.source.text
    clauses = [one for one in map(partial(_clauses, text), reversed(context.open)) if one]
    first = context.open[1].offset if len(context.open) > 1 else start
    line = script.source.line_start(script.source.line_of(min(first, start)))
    content = script.source.line_text(script.source.line_of(line))
    indent = content[: len(content) - len(content.lstrip(" "))]
    expression = text[start:end]
    for one in clauses:
        expression = f"[{expression} {one}]"
    expression = " ".join(expression.split("\n"))
    added = f"{indent}{expression}\n"
    source = Source.from_text(script.source.name, text[:line] + added + text[line:])
    checked = script.modules.check_text(source)
    place = line + len(indent), line + len(added) - 1
    for node in nodes_of(checked.module, n.ExpressionStmt):
        if (node.span.start, node.span.end) == place:
            found = node.value
            for _ in clauses:
                item = found.item if isinstance(found, n.Comprehension) else None
                if item is None or isinstance(item, n.ComputedField):
                    return checked, None
                found = item
            return checked, found
    return checked, None


def _clauses(text: str, bracket: Open) -> str:
    """The clauses of a comprehension whose names may be read where it is being written."""
    if bracket.what not in ("[", "{"):
        return ""
    words = [one for one in bracket.inside if one.text in ("for", "if")]
    while words and words[0].text == "if":
        del words[0]
    if words:
        return text[words[0].offset : words[-1].offset]
    closed = whole(text, bracket)
    begin = None if closed is None else next((p for p in closed[0] if p.text == "for"), None)
    return "" if closed is None or begin is None else text[begin.offset : closed[1]]


def _members_of(script: Script, checked: Checked, node: n.Expression) -> Iterator[Proposal]:
    facts = checked.facts
    symbol = facts.names.symbols.get(node) if isinstance(node, n.Name) else None
    if symbol is not None and symbol in facts.modules:
        for one in facts.modules[symbol].own_names.values():
            if one.kind != "import":
                yield Proposal(one.name, _KINDS.get(one.kind, "variable"))
        return
    enum = facts.enum_of(node)
    if enum is not None:
        yield from (Proposal(choice, "field") for choice in enum.choices)
        return
    # The script's own fields come before what every result has.
    known = members(facts.types.get(node, ANY))
    own = [one for one in known if isinstance(one, ObjectType | RecordType)]
    for member in own:
        yield from _fields(checked, member)
    if facts.result_of(node) is not None:
        for name in MEMBERS:
            yield Proposal(name, "field", show(MEMBER_TYPES.get(name, ANY)))
    for member in known:
        if member not in own:
            yield from _fields(checked, member)
    declared = facts.declared_by_python(node)
    if isinstance(declared, Namespace):
        yield from (
            Proposal(one, "variable", "Python") for one in declared.names() if one[0] != "_"
        )


def _fields(checked: Checked, type_: Type) -> Iterator[Proposal]:
    match type_:
        case ObjectType(fields=fields):
            for one in fields:
                yield Proposal(one.name, "field", show(one.type), doc=one.doc or "")
        case RecordType():
            for name, field in checked.facts.fields_of(type_).items():
                yield Proposal(name, "field", show(field))
        case ListType():
            yield Proposal("length", "field", "int")
        case _ if type_ == DATAFRAME:
            for name, field in DATAFRAME_MEMBERS.items():
                yield Proposal(name, "field", show(field))
        case _ if type_ == STRING:
            yield Proposal("length", "field", "int")
        case _:
            pass


# Calls


@dataclass(frozen=True, slots=True)
class Taking:
    """The head of what is called, its parameters as they are in it, and which one is written."""

    head: str
    parameters: list[str]
    active: int | None
    doc: str


def call_at(script: Script, offset: int) -> Taking | None:
    """What the call takes whose arguments an offset is in."""
    context = context_at(script.module, script.source.text, offset)
    call = context.call
    if call is None:
        return None
    found = _taken(script, call, offset)
    if found is None:
        return None
    head, names, parameters, doc = found
    inside = [one.text for one in call.inside]
    last = len(inside) - 1 - inside[::-1].index(",") if "," in inside else -1
    active: int | None = inside.count(",")
    if inside[last + 2 : last + 3] == [":"]:
        named = inside[last + 1]
        active = names.index(named) if named in names else None
    elif inside.count(",") >= len(parameters):
        active = len(parameters) - 1 if "..." in head else None
    return Taking(head, parameters, active, doc)


def _taken(script: Script, call: Open, offset: int) -> tuple[str, list[str], list[str], str] | None:
    """The head, the names of the parameters, these as the head has them, and the documentation."""
    facts, name = script.checked.facts, call.before[-1].text
    before = [one.text for one in call.before]
    if before[:1] in (["f"], ["type"], ["conv"]) and len(before) == 2:
        return None  # a definition
    owner = facts
    symbol = _visible(scope_at(script, offset), name)
    if before[-2:-1] == ["."] and len(before) > 2:
        module = _visible(scope_at(script, offset), before[-3])
        if module is None:
            return None
        sibling = facts.modules.get(module)
        if sibling is None:
            return _taken_by_python(script, before[-3], name)
        owner, symbol = sibling, sibling.own_names.get(name)
    if symbol is None:
        if name not in BUILTINS or before[-2:-1] == ["."]:
            return None
        head, parameters = builtin_signature(BUILTINS[name])
        return head, BUILTINS[name].names, parameters, builtin(name)
    meaning = owner.meaning_of(symbol)
    match meaning.node:
        case n.FunctionDef() as node if node in facts.functions:
            source = facts.sources.get(node, script.source)
            head, parameters = signature(facts.functions[node], source)
            names = [one.name.text for one in node.parameters]
            return head, names, parameters, script.module.docs.get(node, "")
        case n.RecordDef() as node if node in facts.record_facts:
            record = facts.record_facts[node]
            if record.module is not None:
                return record.node.name.text + "(...)", list(record.fields), [], ""
            home = script.source if node in script.module.statements else None
            if home is None:
                names = list(record.fields)
                return f"type {node.name.text}({', '.join(names)})", names, names, ""
            head, parameters = record_signature(record, home)
            return head, list(record.fields), parameters, script.module.docs.get(node, "")
        case n.ImportedName():
            origin = next(
                one
                for one in script.nodes
                if isinstance(one, n.FromImport) and meaning.node in one.names
            )
            module = script.checked.facts.module_meant(origin.module)
            return _taken_by_python(script, module, meaning.node.name.text)
        case _:
            return None


def _taken_by_python(
    script: Script, module: str, name: str
) -> tuple[str, list[str], list[str], str] | None:
    found = script.originals.written(module, name)
    if found is None or not found.head.startswith("def "):
        return None
    inside = found.head[found.head.index("(") + 1 : found.head.rindex(")")]
    parameters = _split(inside)
    names = [one.split(":")[0].split("=")[0].strip(" *") for one in parameters]
    return found.head, names, parameters, found.doc


def _split(text: str) -> list[str]:
    """The parts of a text between commas that are in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _visible(scope: Scope, name: str) -> Symbol | None:
    return next((one.symbols[name] for one in scope.around() if name in one.symbols), None)
