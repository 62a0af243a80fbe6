"""Where the lines and expressions of the output come from.

While a module is written, `Origins` notes for each statement, in the order of the text, the span in
the script it comes from, and for the expressions that can fail (calls, subscripts, arithmetic,
names) the same. Layout changes neither the order nor the structure, so when positions are wanted, a
walk in step over the noted statements and over Python's own tree of the finished text pairs them:
nothing about positions stands in the output.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from saftc.source import Span


@dataclass(frozen=True, slots=True)
class Mapping:
    """A stretch of the output and the span of the script it comes from.

    Lines count from 1, columns from 0 in UTF-8 bytes, as in Python's tree and tracebacks.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    span: Span
    is_statement: bool


@dataclass(slots=True)
class Origins:
    """The statements of a module in order of its text, and the spans of their expressions."""

    lines: list[tuple[ast.stmt, Span]] = field(default_factory=list[tuple[ast.stmt, Span]])
    spans: dict[ast.expr, Span] = field(default_factory=dict[ast.expr, Span])

    def note(self, made: ast.expr, span: Span) -> None:
        """Notes where an expression comes from."""
        self.spans[made] = span

    def add(self, statement: ast.stmt, span: Span) -> None:
        """Notes the next statement, or the head of a block."""
        self.lines.append((statement, span))

    def insert(self, position: int, statements: Iterable[ast.stmt], span: Span) -> None:
        """Notes statements that are written above one that was noted before."""
        self.lines[position:position] = [(line, span) for line in _statements(statements)]

    def map(self, text: str) -> list[Mapping]:
        """The mappings of the finished module, in order of its text."""
        tree = ast.parse(text)
        # The docstring and the imports above are not noted, nor is what stands below.
        above = sum(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)
        above += ast.get_docstring(tree) is not None
        statements = _statements(tree.body[above:])
        mappings: list[Mapping] = []
        for (line, span), node in zip(self.lines, statements, strict=False):
            mappings.append(_mapping(node, span, is_statement=True))
            for noted, found in zip(_fallible(line), _fallible(node), strict=False):
                origin = self.spans.get(noted)
                if origin is not None:
                    mappings.append(_mapping(found, origin, is_statement=False))
        return mappings


# What an expression may stand in without being part of another statement.
_EXPRESSIONS = (
    ast.expr,
    ast.keyword,
    ast.comprehension,
    ast.arguments,
    ast.arg,
    ast.withitem,
)
_FALLIBLE = (ast.Call, ast.Subscript, ast.BinOp, ast.Name)


def _fallible(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a statement or head that can fail, parents first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _EXPRESSIONS):
            if isinstance(child, _FALLIBLE):
                yield child
            yield from _fallible(child)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for name in ("body", "orelse"):
            yield from _statements(getattr(statement, name, ()))


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
    """The span of the script for a stretch of the output, as a traceback names it.

    The expression at exactly that stretch, else the smallest one around it, else the statement.
    """
    best: Mapping | None = None
    for mapping in mappings:
        begins_before = (mapping.line, mapping.column) <= (line, column or 0)
        ends_after = (mapping.end_line, mapping.end_column) >= (end_line, end_column or 0)
        if column is None:
            begins_before, ends_after = mapping.line <= line, mapping.end_line >= line
            if not mapping.is_statement:
                continue
        # Mappings come parents first, so a later one that fits is a smaller one.
        if begins_before and ends_after:
            best = mapping
    return best.span if best is not None else None
