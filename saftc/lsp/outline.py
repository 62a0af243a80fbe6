"""The symbols of a script, its folding ranges, its semantic tokens (colours), its inlay hints."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from saftc.check.names import Symbol
from saftc.infer.tools import approved, is_known_function
from saftc.lsp.session import Script
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import KEYWORDS, SOFT_KEYWORDS
from saftc.types.types import ANY, FunctionType, show

Kind = Literal["function", "type", "field", "variable"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A symbol of a script, with the symbols inside it. `name` is the span of the symbol's name."""

    text: str
    detail: str
    kind: Kind
    span: Span
    name: Span
    inside: tuple["Entry", ...] = ()


def entries(script: Script) -> list[Entry]:
    """The symbols of a script, in order of the text."""
    return list(_entries(script, script.module.statements, set()))


def _entries(script: Script, statements: Iterable[n.Statement], seen: set[str]) -> Iterator[Entry]:
    facts = script.checked.facts
    for one in statements:
        match one:
            case n.FunctionDef(name=name, body=body) if name.text.isidentifier():
                taken = ", ".join(parameter.name.text for parameter in one.parameters)
                parameters = {parameter.name.text for parameter in one.parameters}
                inside = tuple(_entries(script, body, parameters))
                yield Entry(name.text, f"({taken})", "function", one.span, name.span, inside)
            case n.RecordDef(name=name, fields=fields):
                inside = tuple(
                    Entry(
                        field.name.text,
                        script.source.at(field.schema.span) if field.schema else "",
                        "field",
                        field.span,
                        field.name.span,
                    )
                    for field in fields
                )
                yield Entry(name.text, "", "type", one.span, name.span, inside)
            case n.TypeAlias(name=name):
                yield Entry(name.text, "", "type", one.span, name.span)
            case n.AssignStmt(name=name) if name.text not in seen:
                seen.add(name.text)
                type_ = facts.types.get(one.value, ANY)
                detail = "" if type_ == ANY else show(type_)[:80]
                yield Entry(name.text, detail, "variable", one.span, name.span)
            case _:
                pass


def folds(script: Script) -> list[tuple[int, int, Literal["region", "comment", "imports"]]]:
    """The first and last line of each folding range, counted from 1."""
    source = script.source
    found: set[tuple[int, int, Literal["region", "comment", "imports"]]] = set()

    def add(start: int, end: int, kind: Literal["region", "comment", "imports"]) -> None:
        first, last = source.line_of(start), source.line_of(max(start, end - 1))
        if last > first:
            found.add((first, last, kind))

    for node in script.nodes:
        match node:
            case n.IfStmt(branches=branches, other=other):
                for branch in branches:
                    add(branch.span.start, branch.span.end, "region")
                if other:
                    add(_head(source, other[0]), other[-1].span.end, "region")
            case n.TryStmt(body=body, handler=handler):
                add(node.span.start, body[-1].span.end, "region")
                add(_head(source, handler[0]), handler[-1].span.end, "region")
            case (
                n.FunctionDef()
                | n.RecordDef()
                | n.TypeAlias()
                | n.ForStmt()
                | n.WhileStmt()
                | n.Prompt()
                | n.ListLiteral()
                | n.ObjectLiteral()
                | n.Call()
            ):
                add(node.span.start, node.span.end, "region")
            case _:
                pass
    for run in _runs(source, [one.span for one in script.module.comments if not one.is_trailing]):
        add(run[0].start, run[-1].end, "comment")
    statements = script.module.statements
    kinds = n.ImportStmt | n.FromImport | n.ServerImport
    imports = [one for one in statements if isinstance(one, kinds)]
    for run in _runs(source, [one.span for one in imports]):
        add(run[0].start, run[-1].end, "imports")
    # An editor shows one fold for each line: keep the longest of those that begin on a line.
    firsts: dict[int, tuple[int, int, Literal["region", "comment", "imports"]]] = {}
    for fold in sorted(found, key=lambda one: (one[0], -one[1])):
        firsts.setdefault(fold[0], fold)
    return list(firsts.values())


def _head(source: Source, first: n.Statement) -> int:
    """The offset of the start of the line above a block's first statement."""
    return source.line_start(max(1, source.line_of(first.span.start) - 1))


def _runs(source: Source, spans: list[Span]) -> Iterator[list[Span]]:
    """Groups spans on consecutive lines."""
    run: list[Span] = []
    for span in spans:
        if run and source.line_of(span.start) != source.line_of(run[-1].end) + 1:
            yield run
            run = []
        run.append(span)
    if run:
        yield run


# Colours

KINDS = (
    *("function", "variable", "parameter", "type", "namespace", "property", "macro"),
    *("keyword", "string", "number", "comment"),
)
# The kinds of the tokens whose colour does not depend on the context.
_OF_TOKENS = {
    **dict.fromkeys((*KEYWORDS.values(), *SOFT_KEYWORDS.values()), "keyword"),
    **dict.fromkeys(("PROMPT_START", "PROMPT_END", "HOLE_START", "HOLE_END"), "keyword"),
    **dict.fromkeys(("FORMAT_HOLE_START", "FORMAT_HOLE_END", "FORMAT_SPEC"), "keyword"),
    **dict.fromkeys(("STRING", "FORMAT_START", "FORMAT_TEXT", "FORMAT_END"), "string"),
    **dict.fromkeys(("INTEGER", "FLOAT"), "number"),
    "PROMPT_TEXT": "string",
}
MODIFIERS = ("declaration", "defaultLibrary", "tool")


@dataclass(frozen=True, slots=True)
class Colour:
    """A semantic token: a span within one line, its kind (of `KINDS`) and its `MODIFIERS`."""

    span: Span
    kind: str
    modifiers: frozenset[str]


def colours(script: Script) -> list[Colour]:
    """The semantic tokens of a script, in order of the text.

    A function in a hole of a prompt has the modifier `tool`. Statements that cannot be parsed have
    colours only for keywords, texts, numbers and comments.
    """
    facts = script.checked.facts
    tools = {
        approved(facts, value) or value
        for node in script.nodes
        if isinstance(node, n.Prompt)
        for value in node.shown
        if is_known_function(facts, value)
    }
    found: dict[int, Colour] = {}
    for node in script.nodes:
        said: set[str] = set()
        span = node.span
        match node:
            case n.Name() | n.Identifier():
                symbol = facts.names.symbols.get(node)
                if symbol is None or span.end - span.start != len(node.text):
                    continue
                kind = _kind(script, symbol)
                if isinstance(node, n.Identifier):
                    said.add("declaration")
                if symbol.kind == "builtin":
                    said.add("defaultLibrary")
                if node in tools:
                    said.add("tool")
            case n.NamedSchema():
                kind = "type"
            case n.Member(name=name) if facts.types.get(node) is not None:
                is_function = isinstance(facts.types[node], FunctionType)
                kind, span = "function" if is_function else "property", name.span
                if node in tools:
                    said.add("tool")
            case n.Field(key=key):
                kind, span = "property", key.span
            case _:
                continue
        found.setdefault(span.start, Colour(span, kind, frozenset(said)))
    for span, kind in _words(script):
        found.setdefault(span.start, Colour(span, kind, frozenset()))
    return [found[start] for start in sorted(found)]


def _words(script: Script) -> Iterator[tuple[Span, str]]:
    """The spans and kinds of comments and of tokens with a fixed colour.

    A comment or token with several lines has a span for each line.
    """
    lexed, source = script.checked.lexed, script.source
    pieces = [(one.span, _OF_TOKENS[one.kind]) for one in lexed.tokens if one.kind in _OF_TOKENS]
    for span, kind in (*pieces, *((one.span, "comment") for one in lexed.comments)):
        start = span.start
        for line in source.at(span).split("\n"):
            if line.strip():
                yield Span(start, start + len(line)), kind
            start += len(line) + 1


def _kind(script: Script, symbol: Symbol) -> str:
    facts = script.checked.facts
    meaning = facts.meaning_of(symbol)
    if symbol in facts.modules:
        return "namespace"
    if meaning.kind == "import":
        return "namespace" if isinstance(symbol.node, n.ImportStmt) else "variable"
    kinds = {"builtin": "function", "record": "type", "field": "parameter", "guessed": "variable"}
    return kinds.get(meaning.kind, meaning.kind)


# Hints


def parameter_types(script: Script) -> list[tuple[int, str]]:
    """The inferred types of parameters without a declared type.

    Each item has the offset after the parameter's name, and the text of the type.
    """
    found: list[tuple[int, str]] = []
    for node in script.nodes:
        if not isinstance(node, n.FunctionDef) or node not in script.checked.facts.functions:
            continue
        known = script.checked.facts.functions[node]
        for parameter, type_ in zip(node.parameters, known.parameters, strict=True):
            if parameter.schema is None and type_ != ANY:
                found.append((parameter.name.span.end, f": {show(type_)}"))
    return found


# The most lines of a script with bounds: computing them for more would delay each change.
MOST_BOUNDED_LINES = 3_000


def request_bounds(script: Script) -> list[tuple[int, str, str]]:
    """An upper bound for the requests of each function that prompts.

    Each item has the offset of the end of the function's first line, the bound as a short label,
    and the bound in a sentence.
    """
    is_long = script.source.text.count("\n") > MOST_BOUNDED_LINES
    bounds = None if is_long else script.bounds
    if bounds is None:
        return []
    from saftc.cost.rendering import beside, in_words

    source = script.source
    found: list[tuple[int, str, str]] = []
    for one in bounds.of_functions():
        if not one.bound.is_zero:
            line = source.line_of(one.definition.span.start)
            end = source.line_start(line) + len(source.line_text(line).rstrip())
            found.append((end, beside(one.bound), in_words(one.bound, source)))
    return found
