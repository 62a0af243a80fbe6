"""Descriptions of names for hovers, completions and signature help."""

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from saftc.check.facts import FunctionFacts, RecordFacts
from saftc.check.names import Symbol
from saftc.check.servers import default_text
from saftc.infer.tools import offered
from saftc.lsp.definitions import Target, occurrence_at, path_to_offset
from saftc.lsp.session import Script, Session
from saftc.project.python.library import Location
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.types.builtins import BUILTINS, Builtin
from saftc.types.types import ANY, NEVER, BuiltinType, FunctionType, Type, members, show

_BUILTIN_ROW = re.compile(r"\| (.+?) \| (.+) \|")


def hover(session: Session, script: Script, offset: int) -> tuple[str, Span] | None:
    """The description of the node at an offset, as Markdown, with its span."""
    way = path_to_offset(script.module, offset)
    prompt = next((one for one in reversed(way) if isinstance(one, n.Prompt)), None)
    if prompt is not None and isinstance(way[-1], n.Prompt | n.PromptText):
        return _prompt(script, prompt), prompt.span
    occurrence = occurrence_at(script, offset)
    if occurrence is not None:
        text = _named(session, script, occurrence.target, occurrence.node)
        return None if text is None else (text, occurrence.span)
    match way[-1]:
        case n.Name() as node:
            symbol = script.checked.facts.names.symbols.get(node)
            if symbol is not None and symbol.kind == "builtin":
                return builtin(symbol.name), node.span
            return None
        case n.Identifier() as name if len(way) > 1 and isinstance(way[-2], n.Member):
            return _code(f"{name.text}: {_type(script, way[-2])}"), name.span
        case _:
            return None


def signature(known: FunctionFacts, source: Source) -> tuple[str, list[str]]:
    """The first line of a function's definition with all known types, and its parameters' texts."""
    word = "conv" if known.node.is_conversion else "f"
    parameters = _parameters(zip(known.node.parameters, known.parameters, strict=True), source)
    gives = known.returns
    returns = "" if gives in (ANY, NEVER) else f" -> {show(gives)}"
    return f"{word} {known.node.name.text}({', '.join(parameters)}){returns}", parameters


def record_signature(known: RecordFacts, source: Source) -> tuple[str, list[str]]:
    """The definition of a record on one line, and the texts of its fields."""
    pairs = ((one, known.fields[one.name.text]) for one in known.node.fields)
    parameters = _parameters(pairs, source)
    return f"type {known.node.name.text}({', '.join(parameters)})", parameters


def _parameters(pairs: Iterable[tuple[n.Parameter, Type]], source: Source) -> list[str]:
    found: list[str] = []
    for parameter, type_ in pairs:
        text = parameter.name.text
        if parameter.schema is not None:
            # The parameters of an MCP server's tool have no text in a script: show their types.
            text += f": {source.at(parameter.schema.span) or show(type_)}"
        elif type_ not in (ANY, NEVER):
            text += f": {show(type_)}"
        if parameter.default is not None:
            written = source.at(parameter.default.span)
            text += f" = {written or default_text(parameter.default)}"
        found.append(text)
    return found


def builtin_signature(known: Builtin) -> tuple[str, list[str]]:
    """The signature of a builtin, and the texts of its parameters."""
    parameters: list[str] = []
    for name in known.names:
        taken = [way.named(name) for way in known.ways]
        is_needed = all(one is not None and one.is_required for one in taken)
        repeats = any(way.repeats and way.parameters[-1].name == name for way in known.ways)
        parameters.append(name + ("" if is_needed else "?") + (", ..." if repeats else ""))
    return f"{known.name}({', '.join(parameters)})", parameters


def builtin(name: str) -> str:
    """The entry for a builtin in the reference of the language."""
    forms, gives = _reference().get(name, (f"`{name}`", ""))
    return f"{forms}\n\n{gives}"


@cache
def _reference() -> dict[str, tuple[str, str]]:
    text = (Path(__file__).parent / "builtins.md").read_text(encoding="utf-8")
    found: dict[str, tuple[str, str]] = {}
    for forms, gives in _BUILTIN_ROW.findall(text):
        # Links lead to other sections of the reference, so a hover shows only their text.
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", gives)
        for name in re.findall(r"`(\w+)\(", forms):
            found.setdefault(name, (forms, words))
        for name in re.findall(r"`(\w+)\(", gives):
            found.setdefault(name, (forms, words))
    return {name: row for name, row in found.items() if name in BUILTINS}


def of_symbol(script: Script, symbol: Symbol) -> str:
    """Describes a symbol on one line: by its signature or its type."""
    facts = script.checked.facts
    meaning = facts.meaning_of(symbol)
    match meaning.node:
        case n.FunctionDef() as node if node in facts.functions:
            return signature(facts.functions[node], facts.sources.get(node, script.source))[0]
        case n.RecordDef() as node if node in facts.record_facts:
            record = facts.record_facts[node]
            return f"type {node.name.text}({', '.join(record.fields)})"
        case _:
            if symbol.kind == "builtin":
                return builtin_signature(BUILTINS[symbol.name])[0]
            type_ = facts.declared.get(symbol) or facts.symbols.get(symbol) or ANY
            type_ = facts.lasting.get(meaning, type_)
            return f"{symbol.name}: {show(type_)}"


def _named(session: Session, script: Script, target: Target, node: n.Node) -> str | None:
    if target.location is not None:
        return _python(script, target.name, target.location, node)
    if target.kind == "module":
        home = session.script(target.path)
        return _with_doc(_code(f"import {target.name}"), home.module.doc)
    home = session.script(target.path)
    owner = path_to_offset(home.module, target.span.start)
    docs = home.module.docs
    facts = home.checked.facts
    definition = owner[-2] if len(owner) > 1 else owner[-1]
    # All nodes in the stub of an MCP server's tool have the same span.
    tools = (one for one in owner if isinstance(one, n.FunctionDef) and one.span == target.span)
    definition = next(tools, definition)
    match definition:
        case n.FunctionDef() if definition in facts.functions:
            head, _ = signature(facts.functions[definition], home.source)
            text = _with_doc(_code(head), docs.get(definition, ""))
            return text + _requests(home, definition) + _tool(home, definition)
        case n.RecordDef(rules=rules):
            end = rules[0].span.start if rules else definition.span.end
            head = home.source.text[definition.span.start : end].strip().removesuffix(":")
            return _with_doc(_code(head), docs.get(definition, ""))
        case n.TypeAlias():
            return _with_doc(_code(home.source.at(definition.span)), docs.get(definition, ""))
        case n.Parameter():
            return _with_doc(
                _code(_parameter(script, home, definition, node)), docs.get(definition, "")
            )
        case _:
            pass
    symbol = facts.names.symbols.get(owner[-1])
    if isinstance(node, n.Name | n.Member) and node in script.checked.facts.types:
        return _code(f"{target.name}: {_type(script, node)}")
    return None if symbol is None else _code(of_symbol(home, symbol))


def _parameter(script: Script, home: Script, node: n.Parameter, read: n.Node) -> str:
    """A parameter with its type.

    If `read` is a use of the parameter, the type is the one that the parameter has there.
    """
    if isinstance(read, n.Name):
        return f"{node.name.text}: {_type(script, read)}"
    facts = home.checked.facts
    symbol = facts.names.symbols.get(node.name)
    type_ = None if symbol is None else facts.declared.get(symbol) or facts.symbols.get(symbol)
    if node.schema is not None:
        return home.source.at(node.span)
    return f"{node.name.text}: {show(type_ or ANY)}"


def _type(script: Script, node: n.Node) -> str:
    facts = script.checked.facts
    type_ = facts.types.get(node, ANY)
    functions = [one for one in members(type_) if isinstance(one, FunctionType | BuiltinType)]
    if len(functions) == 1 and isinstance(functions[0], FunctionType):
        known = facts.functions[functions[0].definition]
        return signature(known, facts.sources.get(known.node, script.source))[0]
    return show(type_)


def _python(script: Script, name: str, location: Location, node: n.Node) -> str:
    known = script.checked.facts.types.get(node)
    lines = _code(location.head or f"{name}: Python", "python")
    if known is not None and known != ANY:
        lines += "\n\n" + _code(f"{name}: {show(known)}")
    return _with_doc(lines, location.doc)


def _requests(script: Script, function: n.FunctionDef) -> str:
    """A text about the largest number of requests that a call of a function sends.

    The text is empty if the function sends none, or if no bounds are known.
    """
    found = None if script.bounds is None else script.bounds.of_function(function)
    if found is None or found.bound.is_zero:
        return ""
    from saftc.cost.rendering import in_words

    return f"\n\n{in_words(found.bound, found.source)}"


def _tool(script: Script, function: n.FunctionDef) -> str:
    """The description of a function as a tool, in the form in which a model gets it.

    The text is empty if the function cannot be a tool, or if the script has errors.
    """
    if script.checked.has_errors:
        return ""
    # Imported here, as it imports the runtime.
    from saftc.previews.requests import description

    described = description(script.checked.facts, function, script.python_objects)
    if described is None:
        return ""
    data = json.dumps(described, ensure_ascii=False, indent=2)
    return f"\n\nAs a tool:\n\n{_code(data, 'json')}"


def _prompt(script: Script, prompt: n.Prompt) -> str:
    """Describes a prompt: the requested type, the tools, and the first request."""
    facts = script.checked.facts
    asked = facts.prompts.get(prompt, ANY)
    type_ = "program" if prompt.mode == "program" else "string" if asked == ANY else show(asked)
    parts = [_code(f"$ ... $: {type_}")]
    tools = {one.name for one in offered(facts, prompt) if one.is_function}
    if tools:
        parts.append("Tools: " + ", ".join(f"`{name}`" for name in sorted(tools)))
    if script.checked.has_errors:
        parts.append("Its request is shown when the script has no errors.")
    else:
        from saftc.lsp.views import request_of

        parts += ["The first request:", _code(request_of(script, prompt).strip(), "text")]
    return "\n\n".join(parts)


def _code(text: str, language: str = "saft") -> str:
    # A fence longer than any in the text, so that no fence in the text ends the code block.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _with_doc(text: str, doc: str) -> str:
    return f"{text}\n\n{doc}" if doc else text
