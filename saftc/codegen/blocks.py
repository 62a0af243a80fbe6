"""Blocks: the blank lines and comments between statements, and what stands above them.

Imports inside of a function stay there, those that follow each other sorted; those of the module
are only noted here, `module` writes them. Classes go above the statement that needs them first.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.annotations import Annotations
from saftc.codegen.comments import beside, comment_line
from saftc.codegen.imports import Imports
from saftc.codegen.python import Statement
from saftc.semantics.facts import Facts
from saftc.semantics.names import Symbol
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import Comment
from saftc.syntax.walk import walk

_IMPORTS = n.ImportStmt | n.FromImport


_Below = TypeVar("_Below", bound=Statement)


def above(made: _Below, lines: Sequence[cst.EmptyLine]) -> _Below:
    """The statement with more lines above it, and above the comments that it has there."""
    return made.with_changes(leading_lines=[*lines, *made.leading_lines]) if lines else made


class Blocks(Annotations):
    """The part of the emitter that knows what stands between statements."""

    def __init__(
        self, source: Source, module: n.Module, facts: Facts, names: dict[Symbol, str]
    ) -> None:
        super().__init__(source, module, facts, names)
        # The types of the module, those already written, and those written before their place.
        self.definitions: dict[str, n.TypeAlias | n.RecordDef] = {
            statement.name.text: statement
            for statement in module.statements
            if isinstance(statement, n.TypeAlias | n.RecordDef)
        }
        self.begun_types: set[str] = set()
        self.hoisted: set[n.Statement] = set()
        # Imports inside of a call that are written with the one above them, and those by that one.
        self.joined: set[n.Statement] = set()
        self.import_runs: dict[n.Statement, list[n.Statement]] = {}

    @abstractmethod
    def statement(self, statement: n.Statement) -> list[Statement]:
        """What a statement becomes."""

    # Blocks

    def body(
        self,
        statements: Sequence[n.Statement],
        beginning: Callable[[], list[Statement]] = list,
        ending: Sequence[Statement] = (),
    ) -> cst.IndentedBlock:
        """The inside of a statement, with the comments beside its head and at its end."""
        head = self._take_beside()
        self.depth += 1
        first = beginning()
        made, footer = self.block(statements)
        footer += self.footer(self.comments.footer(statements))
        self.depth -= 1
        if ending:
            made += [above(ending[0], footer), *ending[1:]]
            footer = []
        return py.block([*first, *made], head, footer)

    def block(
        self, statements: Sequence[n.Statement]
    ) -> tuple[list[Statement], list[cst.EmptyLine]]:
        """The statements of a block with the lines between them, and the lines at its end."""
        made: list[Statement] = []
        moved: list[Comment] = []
        if self.depth:
            self._join_imports(statements)
        for position, statement in enumerate(statements):
            if statement in self.hoisted or statement in self.joined:
                continue
            own = self.comments.of(statement)
            if self._is_import_elsewhere(statements, position):
                self.imports.own |= self._kept_imports(statement)
                # Its comments stay where they were.
                moved += own.leading
                moved += [own.beside] if own.beside is not None else []
                continue
            own.leading[:0] = moved
            moved = []
            first, *others = self._with_comments(statement)
            made += [above(first, self._gap(statement) if made else ()), *others]
        return made, self.comment_lines(moved, None)

    def footer(self, comments: Sequence[Comment]) -> list[cst.EmptyLine]:
        """The comments below the last statement of a block."""
        if not comments:
            return []
        blank = [py.BLANK] * self.source.blank_lines_above(comments[0].span.start)
        return [*blank, *self.comment_lines(comments, None)]

    def simple(self, small: cst.BaseSmallStatement, span: Span) -> cst.SimpleStatementLine:
        """A statement without a block, with the comment beside it."""
        made = py.line(self._fitted(small), self._take_beside())
        self.origins.note(made, span)
        return made

    def _fitted(self, small: cst.BaseSmallStatement) -> cst.BaseSmallStatement:
        """A statement about a prompt, with an argument a line when it does not fit on one."""
        match small:
            case cst.Assign() | cst.AnnAssign() | cst.Return() | cst.Expr():
                value = small.value
            case _:
                return small
        asking = value.value if isinstance(value, cst.Attribute) else value
        if not isinstance(asking, cst.Call) or asking.func not in self.prompts:
            return small
        if not self.is_long(small, self.depth):
            return small
        made = py.spread(asking)
        if isinstance(value, cst.Attribute):
            made = value.with_changes(value=made)
        return small.with_changes(value=made)

    def _take_beside(self) -> cst.TrailingWhitespace:
        comment, self.beside = self.beside, None
        return beside(comment)

    def _with_comments(self, statement: n.Statement) -> list[Statement]:
        """A statement, below the classes it needs and its comments."""
        types = self._types_first(statement) if self.depth == 0 else []
        own = self.comments.of(statement)
        outer, self.inner_comments = self.inner_comments, list(own.inner)
        self.beside = own.beside if _is_simple(statement) else own.head
        first, *others = self.statement(statement)
        lines = self.comment_lines([*own.leading, *self.inner_comments], statement)
        self.inner_comments = outer
        classes: list[Statement] = []
        if self.depth == 0 and self.new_classes:
            classes = [self._class(made, statement.span) for made in self.new_classes]
            self.new_classes = []
            # What stands above with a gap is not about the statement, but about what follows.
            split = max((i for i, line in enumerate(lines) if line is py.BLANK), default=-1)
            classes[0] = above(classes[0], lines[: split + 1])
            lines = lines[split + 1 :]
        return [*types, *classes, above(first, lines), *others]

    def _class(self, made: Statement, span: Span) -> Statement:
        """Notes where a class comes from, or the assignment that stands for one."""
        if isinstance(made, cst.ClassDef):
            head = self._take_beside()
            made = made.with_changes(body=made.body.with_changes(header=head))
            for line in made.body.body:
                self.origins.note(line, span)
        self.origins.note(made, span)
        return made

    def _types_first(self, statement: n.Statement) -> list[Statement]:
        """The types that a statement names and that are defined further below."""
        made: list[Statement] = []
        if isinstance(statement, n.TypeAlias | n.RecordDef):
            self.begun_types.add(statement.name.text)
        for name in named_types(statement) if self.definitions else ():
            definition = self.definitions.get(name)
            if definition is None or name in self.begun_types:
                continue
            self.begun_types.add(name)
            self.hoisted.add(definition)
            made += self._with_comments(definition)
        return made

    def comment_lines(
        self, comments: Sequence[Comment], below: n.Node | None
    ) -> list[cst.EmptyLine]:
        """Comments as lines, with the blank lines between them and above what is below."""
        lines: list[cst.EmptyLine] = []
        for position, comment in enumerate(comments):
            if position and not comment.is_trailing:
                lines += [py.BLANK] * self._blank_lines_between(comments[position - 1], comment)
            lines.append(comment_line(comment))
        if comments and below is not None and not comments[-1].is_trailing:
            lines += [py.BLANK] * self.source.blank_lines_below(comments[-1].span.start)
        return lines

    def _blank_lines_between(self, one: Comment, other: Comment) -> int:
        """The larger gap, where an import that is now elsewhere stood between them."""
        return max(
            self.source.blank_lines_below(one.span.start),
            self.source.blank_lines_above(other.span.start),
        )

    def _gap(self, statement: n.Statement) -> list[cst.EmptyLine]:
        """The blank lines of the script above a statement and its comments."""
        leading = self.comments.of(statement).leading
        start = leading[0].span.start if leading else statement.span.start
        return [py.BLANK] * self.source.blank_lines_above(start)

    # Imports

    def _is_import_elsewhere(self, statements: Sequence[n.Statement], position: int) -> bool:
        """Whether a statement is an import that goes to the top of the module, or nowhere."""
        statement = statements[position]
        if not isinstance(statement, _IMPORTS):
            return False
        if self.depth == 0:
            return True
        below = statements[position + 1 :]
        is_needed = bool(self._kept_imports(statement))
        return not is_needed and not all(isinstance(one, _IMPORTS) for one in below)

    def _import(self, statement: n.ImportStmt | n.FromImport) -> list[Statement]:
        """The import of a call, or one that is inside of an `if` or the like."""
        kept = Imports(own=self._kept_imports(statement)).statements()
        first, *others = kept or [py.line(cst.Pass())]
        made = [first.with_changes(trailing_whitespace=self._take_beside()), *others]
        for line in made:
            self.origins.note(line, statement.span)
        return list[Statement](made)

    def _join_imports(self, statements: Sequence[n.Statement]) -> None:
        """Makes one of the imports that follow each other, so that they can be sorted.

        Their comments go above the first.
        """
        first: n.Statement | None = None
        for statement in statements:
            if not isinstance(statement, _IMPORTS):
                first = None
            elif first is None:
                first = statement
            else:
                self.joined.add(statement)
                self.import_runs.setdefault(first, []).append(statement)
                into, own = self.comments.of(first), self.comments.of(statement)
                into.leading += [c for c in (into.beside, *own.leading, own.beside) if c]
                into.beside = None

    def _kept_imports(self, statement: n.Statement) -> set[tuple[str, str, str]]:
        """What a statement and those joined with it import and the script uses, for `Imports`."""
        kept = self._own_imports(statement)
        return kept.union(*map(self._own_imports, self.import_runs.get(statement, ())))

    def _own_imports(self, statement: n.Statement) -> set[tuple[str, str, str]]:
        match statement:
            case n.ImportStmt():
                symbol = self.facts.names.of(statement.alias or statement.module)
                alias = self.names[symbol] if statement.alias else statement.module.text
                return {(statement.module.text, "", alias)} if symbol.is_read else set()
            case n.FromImport():
                module = statement.module.text
                named = [(i.name.text, i.alias or i.name) for i in statement.names]
                symbols = [(name, self.facts.names.of(bound)) for name, bound in named]
                return {
                    (module, py.field_name(name), self.names[symbol])
                    for name, symbol in symbols
                    if symbol.is_read
                }
            case _:
                return set()


def _is_simple(statement: n.Statement) -> bool:
    """Whether a statement has no block."""
    return not isinstance(statement, n.FunctionDef | n.IfStmt | n.ForStmt | n.WhileStmt)


def named_types(node: n.Node) -> Iterator[str]:
    """The named types in the schemas of a statement that Python evaluates with it."""
    for inner in walk(node):
        if isinstance(inner, n.NamedSchema):
            yield inner.text
