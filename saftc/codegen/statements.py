"""Statements: what each becomes, and the heads of loops and branches."""

import ast
from collections.abc import Sequence
from typing import assert_never

from saftc.codegen import python as py
from saftc.codegen.comments import Attached
from saftc.codegen.definitions import Definitions
from saftc.codegen.expressions import Expressions
from saftc.codegen.prompts import Prompts
from saftc.codegen.python import Expression
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
    NEVER,
    LiteralType,
    ObjectType,
    Type,
    UnionType,
    is_known,
    is_only,
    parts,
)
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk


class Statements(Definitions, Prompts, Expressions):
    """The part of the emitter that knows statements."""

    def statement(self, statement: n.Statement) -> None:
        """Writes a statement."""
        match statement:
            case n.FunctionDef():
                self._function_def(statement)
            case n.AssignStmt():
                self._assign_stmt(statement)
            case n.IfStmt():
                self._if_stmt(statement, "if")
            case n.ForStmt():
                self._for_stmt(statement)
            case n.WhileStmt():
                head = ast.While(self.condition(statement.condition), [], [])
                self.headed(head, statement.span)
                self.body(statement, statement.body)
            case n.BreakStmt():
                self.simple(ast.Break(), statement.span)
            case n.ContinueStmt():
                self.simple(ast.Continue(), statement.span)
            case n.RetStmt():
                self._ret_stmt(statement)
            case n.AssertStmt():
                self._assert_stmt(statement)
            case n.ExpressionStmt():
                self._expression_stmt(statement)
            case n.DestructureStmt():
                self._destructure_stmt(statement)
            case n.TypeAlias():
                self._type_alias(statement)
            case n.RecordDef():
                self._record_def(statement)
            case n.ImportStmt() | n.FromImport():
                self._import(statement)
            case _:
                assert_never(statement)

    def _assign_stmt(self, statement: n.AssignStmt) -> None:
        self.name_classes(statement.schema, statement.name.text)
        target = py.name(self.name_of(statement.name))
        if self.facts.names.of(statement.name) in self.facts.history.does:
            value = self.whole_result(statement.value)
            self.simple(py.assignment(target, value), statement.span)
            return
        value = self.emit(statement.value)
        if statement.schema is None or not self._keeps_annotation(statement):
            annotation = self._needed_annotation(statement)
            if annotation is None:
                self.simple(py.assignment(target, value), statement.span)
                return
        else:
            annotation = self.annotation(self.facts.schemas[statement.schema])
        made = py.annotated(target, annotation, value)
        self.simple(made, statement.span)

    def _keeps_annotation(self, statement: n.AssignStmt) -> bool:
        """Whether a name's annotation says what the value does not say by itself."""
        assert statement.schema is not None
        wanted = self.facts.schemas[statement.schema]
        if isinstance(statement.value, n.Prompt):
            return isinstance(wanted, UnionType | LiteralType)
        symbol = self.facts.names.of(statement.name)
        if self.facts.declared.get(symbol) != wanted:
            return False
        # Python's type checkers hold every assignment against the annotation, Saft only this one.
        return fit(self.facts.symbols.get(symbol, NEVER), wanted) == Fit.EXACT

    def _needed_annotation(self, statement: n.AssignStmt) -> Expression | None:
        """`dict[str, Any]` for an object whose fields differ in type and are read one by one.

        Python's type checkers would take every field for the union of all of them. The first
        assignment to the name carries the annotation.
        """
        symbol = self.facts.names.of(statement.name)
        value = statement.value
        is_empty = isinstance(value, n.ListLiteral) and not value.items
        if symbol.node is not statement or not (
            is_empty or any(isinstance(node, n.ObjectLiteral) for node in walk(value))
        ):
            return None
        type_ = self.facts.symbols.get(symbol, NEVER)
        return self.annotation(type_) if is_known(type_) and self._is_read(type_) else None

    def _is_read(self, type_: Type) -> bool:
        if isinstance(type_, ObjectType) and type_.fields in self.facts.read_shapes:
            differ = len({field.type for field in type_.fields}) > 1
            return differ or any(self._is_read(part) for part in parts(type_))
        return any(self._is_read(part) for part in parts(type_))

    def _ret_stmt(self, statement: n.RetStmt) -> None:
        value = None
        if statement.value is not None:
            keeps = self.scope.call.owner in self.facts.history.does
            value = self.whole_result(statement.value) if keeps else self.emit(statement.value)
        self.simple(ast.Return(value), statement.span)

    def _destructure_stmt(self, statement: n.DestructureStmt) -> None:
        assert isinstance(statement.value, n.Prompt)
        for field in statement.fields:
            self.name_classes(field.schema, field.name.text)
        names = [py.name(self.name_of(field.name)) for field in statement.fields]
        first = self.facts.names.of(statement.fields[0].name)
        part = "fields" if first in self.facts.history.does else "value"
        value = py.attribute(self.destructured(statement.value, statement.fields), part)
        target = py.tuple_(names)
        self.simple(py.assignment(target, value), statement.span)

    def _expression_stmt(self, statement: n.ExpressionStmt) -> None:
        value = statement.value
        if isinstance(value, n.Literal) and not isinstance(value.value, int | float):
            # A text would be a docstring here.
            self.simple(ast.Pass(), statement.span)
        elif isinstance(value, n.Prompt):
            self.simple(ast.Expr(self.result(value)), statement.span)
        else:
            self.simple(ast.Expr(self.emit(value)), statement.span)

    def _assert_stmt(self, statement: n.AssertStmt) -> None:
        condition = self.condition(statement.condition)
        message = None
        if statement.message is not None:
            message = self.emit(statement.message)
            if not is_only(self.type_of(statement.message), "string"):
                message = self.shown(message)
        self.simple(ast.Assert(condition, message), statement.span)

    def _if_stmt(self, statement: n.IfStmt, word: str) -> None:
        for position, branch in enumerate(statement.branches):
            if position:
                word = "elif"
                self._clause(statement.branches[position - 1].body, self.comments.of(branch))
            if word == "if":
                self.headed(ast.If(self.condition(branch.condition), [], []), branch.span)
            else:
                self._elif(branch, self.comments.of(branch if position else statement))
            self.body(statement, branch.body)
        if statement.other:
            self._else(statement)

    def _elif(self, branch: n.Branch, part: Attached) -> None:
        """The head of a later branch; comments inside it that find no place stand above it."""
        outer, self.inner_comments = self.inner_comments, list(part.inner)
        made = ast.If(self.condition(branch.condition), [], [])
        self.lines += self._comment_lines(self.inner_comments, None)
        self.inner_comments = outer
        self.beside = part.head
        self.headed(made, branch.span, "elif")

    def _else(self, statement: n.IfStmt) -> None:
        part = self.comments.others.get(statement, Attached())
        above = statement.branches[-1].body
        only = statement.other[0]
        if len(statement.other) == 1 and isinstance(only, n.IfStmt) and part == Attached():
            # `else: if` reads `elif`.
            self._clause(above, self.comments.of(only))
            self._if_stmt(only, "elif")
            return
        self._clause(above, part)
        self.beside = part.head
        self.write("else:" + self.take_beside())
        self.body(statement, statement.other)

    def _clause(self, above: Sequence[n.Statement], part: Attached) -> None:
        """The comments above `elif` or `else`, apart from a definition that ends the block."""
        if not self.comments.footer(tuple(above)) and self._ends_with_definition(above[-1]):
            self.lines += [""] * (self._around() if part.leading else 1)
        self.lines += self._comment_lines(part.leading, None)

    def _for_stmt(self, statement: n.ForStmt) -> None:
        iterable = self.loop_over(statement.pattern, statement.iterable)
        target = self.pattern(statement.pattern)
        self.headed(ast.For(target, iterable, [], []), statement.span)
        self.body(statement, statement.body)
