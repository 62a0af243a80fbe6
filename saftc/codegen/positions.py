"""Maps the statements and expressions in the output to their spans in the script.

While the emitter builds a module, `Spans` records the span of each statement and of each expression
that can fail (calls, subscripts, arithmetic, names). black does not change the structure of the
code. So `Origins.map` walks the built tree and Python's tree of the finished text in parallel and
pairs their nodes. The output itself contains no positions.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import cast

import libcst as cst

from saftc.source import Span


@dataclass(frozen=True, slots=True)
class Mapping:
    """A range of the output, and the span of the script for which it was emitted.

    Lines count from 1. Columns count from 0 and in UTF-8 bytes. Python's tree and tracebacks use
    the same numbers.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    span: Span
    is_statement: bool


# The key of a node: its kind, and a part that remains the same object when parentheses, commas or
# comments are added.
_Key = tuple[type, object]


class Spans:
    """The spans of the statements and expressions built so far."""

    def __init__(self) -> None:
        self._spans: dict[_Key, Span] = {}

    def note(self, made: cst.CSTNode, span: Span) -> None:
        """Records the span of a statement or an expression."""
        key = _key(made)
        if key is not None:
            self._spans[key] = span

    def of(self, made: cst.CSTNode) -> Span | None:
        """Returns the recorded span of a node, or None."""
        key = _key(made)
        return None if key is None else self._spans.get(key)


@dataclass(frozen=True, slots=True)
class Origins:
    """The tree of a module, and the spans of its statements and expressions in the script."""

    spans: Spans
    module: cst.Module

    def map(self, text: str) -> list[Mapping]:
        """Returns the mappings of the module, in order.

        `text` is the finished text of the module.
        """
        mappings: list[Mapping] = []
        pairs = zip(_built(self.module.body), _read(ast.parse(text).body), strict=True)
        for built, read in pairs:
            span = self.spans.of(built)
            if span is None:
                continue
            mappings.append(_mapping(read, span, is_statement=True))
            expressions = zip(_fallible_built(built), _fallible_read(read), strict=True)
            for one, other in expressions:
                origin = self.spans.of(one)
                if origin is not None:
                    mappings.append(_mapping(other, origin, is_statement=False))
        return mappings


def _key(node: cst.CSTNode) -> _Key | None:
    match node:
        case cst.SimpleStatementLine():
            return _key(node.body[0])
        case cst.BaseSmallStatement():
            return type(node), node
        case cst.BaseCompoundStatement():
            return type(node), node.body
        case cst.Call():
            return cst.Call, node.func
        case cst.Await(expression=cst.Call(func=function)):
            return cst.Await, function
        case cst.Subscript():
            return cst.Subscript, node.value
        case cst.BinaryOperation():
            return cst.BinaryOperation, node.operator
        case cst.Name() if node.value not in ("None", "True", "False"):
            return cst.Name, node
        case _:
            return None


# The built tree


def _built(body: Iterable[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """Yields the statements in `body` and in its nested blocks, in the order of the text."""
    for statement in body:
        if not isinstance(statement, cst.Else | cst.ExceptHandler):
            yield statement
        if isinstance(statement, cst.BaseCompoundStatement | cst.Else | cst.ExceptHandler):
            yield from _built(statement.body.body)
            yield from _built(getattr(statement, "handlers", ()))
            orelse = getattr(statement, "orelse", None)
            yield from _built(() if orelse is None else (orelse,))


_BLOCKS = (cst.BaseSuite, cst.Else, cst.If, cst.ExceptHandler)


def _fallible_built(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yields each expression that can fail in a statement, in the order of the text.

    Expressions in nested blocks are left out.
    """
    if isinstance(node, cst.Import | cst.ImportFrom | cst.Global | cst.Nonlocal):
        return
    label = _label(node)
    for child in _children(node):
        if child is label or isinstance(child, _BLOCKS):
            continue
        if isinstance(child, cst.BaseExpression) and _key(child) is not None:
            yield child
        yield from _fallible_built(child)


# The fields that hold expressions, for nodes whose fields are not in the order of the text.
_ORDER: dict[type, tuple[str, ...]] = {
    cst.IfExp: ("body", "test", "orelse"),
    cst.FunctionDef: ("decorators", "params", "returns"),
    cst.ClassDef: ("decorators", "bases"),
}


@cache
def _fields(kind: type) -> tuple[str, ...]:
    names = (one.name for one in fields(kind))
    return _ORDER.get(kind) or tuple(name for name in names if "whitespace" not in name)


def _children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yields the children of a node. Unlike `node.children`, it does not copy the node first."""
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, list | tuple):
            parts = cast("Sequence[object]", value)
            yield from (part for part in parts if isinstance(part, cst.CSTNode))


def _label(node: cst.CSTNode) -> cst.CSTNode | None:
    """Returns the part of `node` that is only a label, not a name that Python looks up."""
    match node:
        case cst.Arg():
            return node.keyword
        case cst.Attribute():
            return node.attr
        case cst.Param() | cst.FunctionDef() | cst.ClassDef():
            return node.name
        case _:
            return None


# The parsed tree


def _read(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        inner = [getattr(statement, "body", ()), getattr(statement, "orelse", ())]
        inner[1:1] = [handler.body for handler in getattr(statement, "handlers", ())]
        for block in inner:
            yield from _read(block)


def _fallible_read(statement: ast.stmt) -> Sequence[ast.expr]:
    """Returns each expression that can fail in a parsed statement, in the order of the text."""
    found: list[ast.expr] = []
    pending: list[ast.AST] = [statement]
    while pending:
        for child in ast.iter_child_nodes(pending.pop()):
            if isinstance(child, ast.stmt | ast.ExceptHandler):
                continue
            if isinstance(child, ast.Await | ast.Call | ast.Subscript | ast.BinOp | ast.Name):
                found.append(child)
            pending.append(child)
    return sorted(found, key=_place)


def _place(node: ast.expr) -> tuple[int, int, int, int]:
    """The sort key of a node: its position in the text. Outer nodes come before inner ones."""
    return node.lineno, node.col_offset, -(node.end_lineno or 0), -(node.end_col_offset or 0)


def _mapping(node: ast.stmt | ast.expr, span: Span, *, is_statement: bool) -> Mapping:
    return Mapping(
        node.lineno,
        node.col_offset,
        node.end_lineno or node.lineno,
        node.end_col_offset or node.col_offset,
        span,
        is_statement,
    )


def locate(
    mappings: Iterable[Mapping],
    line: int,
    column: int | None,
    end_line: int,
    end_column: int | None,
) -> Span | None:
    """Returns the span of the script for a range of the output, as in a traceback.

    The span is that of the smallest expression that contains the range, or else of the statement.
    """
    best: Mapping | None = None
    for mapping in mappings:
        begins_before = (mapping.line, mapping.column) <= (line, column or 0)
        ends_after = (mapping.end_line, mapping.end_column) >= (end_line, end_column or 0)
        if column is None:
            begins_before, ends_after = mapping.line <= line, mapping.end_line >= line
            if not mapping.is_statement:
                continue
        # Outer mappings come first, so a later one that fits is smaller.
        if begins_before and ends_after:
            best = mapping
    return best.span if best is not None else None
