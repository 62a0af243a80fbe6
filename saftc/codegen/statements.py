"""Statements: what each becomes, and the heads of loops and branches."""

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.definitions import Definitions
from saftc.codegen.expressions import Expressions
from saftc.codegen.prompts import Prompts
from saftc.codegen.python import Expression, Statement
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
from saftc.syntax.comments import Attached
from saftc.syntax.walk import walk


class Statements(Definitions, Prompts, Expressions):
    """The part of the emitter that knows statements."""

    def statement(self, statement: n.Statement) -> list[Statement]:
        """What a statement becomes: one, or none."""
        match statement:
            case n.ImportStmt() | n.FromImport():
                return self._import(statement)
            case _:
                return [self._made(statement)]

    def _made(self, statement: n.Statement) -> Statement:
        match statement:
            case n.FunctionDef():
                return self._function_def(statement)
            case n.AssignStmt():
                return self._assign_stmt(statement)
            case n.IfStmt():
                return self._if_stmt(statement, None)
            case n.ForStmt():
                return self._for_stmt(statement)
            case n.WhileStmt():
                condition = self.condition(statement.condition)
                made = cst.While(condition, self.body(statement.body))
                self.origins.note(made, statement.span)
                return made
            case n.BreakStmt():
                return self.simple(cst.Break(), statement.span)
            case n.ContinueStmt():
                return self.simple(cst.Continue(), statement.span)
            case n.RetStmt():
                return self._ret_stmt(statement)
            case n.AssertStmt():
                return self._assert_stmt(statement)
            case n.ExpressionStmt():
                return self._expression_stmt(statement)
            case n.DestructureStmt():
                return self._destructure_stmt(statement)
            case n.TypeAlias():
                return self._type_alias(statement)
            case n.RecordDef():
                return self._record_def(statement)
            case _:
                raise AssertionError

    def _assign_stmt(self, statement: n.AssignStmt) -> Statement:
        self.name_classes(statement.schema, statement.name.text)
        target = py.name(self.name_of(statement.name))
        if self.facts.names.of(statement.name) in self.facts.history.does:
            value = self.whole_result(statement.value)
            return self.simple(py.assignment(target, value), statement.span)
        value = self.emit(statement.value)
        if statement.schema is not None and self._keeps_annotation(statement):
            annotation = self.annotation(self.facts.schemas[statement.schema])
        else:
            annotation = self._needed_annotation(statement)
        if annotation is None:
            return self.simple(py.assignment(target, value), statement.span)
        return self.simple(py.annotated(target, annotation, value), statement.span)

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

    def _ret_stmt(self, statement: n.RetStmt) -> Statement:
        value = None
        if statement.value is not None:
            keeps = self.scope.call.owner in self.facts.history.does
            value = self.whole_result(statement.value) if keeps else self.emit(statement.value)
        return self.simple(py.returned(value), statement.span)

    def _destructure_stmt(self, statement: n.DestructureStmt) -> Statement:
        assert isinstance(statement.value, n.Prompt)
        for field in statement.fields:
            self.name_classes(field.schema, field.name.text)
        names = [py.name(self.name_of(field.name)) for field in statement.fields]
        first = self.facts.names.of(statement.fields[0].name)
        part = "fields" if first in self.facts.history.does else "value"
        value = py.attribute(self.destructured(statement.value, statement.fields), part)
        return self.simple(py.assignment(py.tuple_(names), value), statement.span)

    def _expression_stmt(self, statement: n.ExpressionStmt) -> Statement:
        value = statement.value
        if isinstance(value, n.Literal) and not isinstance(value.value, int | float):
            # A text would be a docstring here.
            return self.simple(cst.Pass(), statement.span)
        made = self.result(value) if isinstance(value, n.Prompt) else self.emit(value)
        return self.simple(cst.Expr(made), statement.span)

    def _assert_stmt(self, statement: n.AssertStmt) -> Statement:
        condition = self.condition(statement.condition)
        message = None
        if statement.message is not None:
            message = self.emit(statement.message)
            if not is_only(self.type_of(statement.message), "string"):
                message = self.shown(message)
        return self.simple(cst.Assert(condition, message), statement.span)

    def _if_stmt(self, statement: n.IfStmt, part: Attached | None) -> cst.If:
        """`part` holds the comments of one that is `else: if` in the script, and reads `elif`."""
        parts = [part, *(self.comments.of(branch) for branch in statement.branches[1:])]
        made = [
            self._branch(branch, own) for branch, own in zip(statement.branches, parts, strict=True)
        ]
        orelse = self._else(statement) if statement.other else None
        for branch, one in reversed(list(zip(statement.branches, made, strict=True))):
            orelse = one.with_changes(orelse=orelse)
            self.origins.note(orelse, branch.span)
        assert isinstance(orelse, cst.If)
        return orelse

    def _branch(self, branch: n.Branch, part: Attached | None) -> cst.If:
        """A branch; of an `elif`, comments inside its head that find no place stand above it."""
        if part is None:
            return cst.If(self.condition(branch.condition), self.body(branch.body))
        outer, self.inner_comments = self.inner_comments, list(part.inner)
        condition = self.condition(branch.condition)
        lines = self.comment_lines([*part.leading, *self.inner_comments], None)
        self.inner_comments = outer
        self.beside = part.head
        return cst.If(condition, self.body(branch.body), leading_lines=lines)

    def _else(self, statement: n.IfStmt) -> cst.If | cst.Else:
        part = self.comments.of_else(statement)
        only = statement.other[0]
        if len(statement.other) == 1 and isinstance(only, n.IfStmt) and part == Attached():
            return self._if_stmt(only, self.comments.of(only))
        lines = self.comment_lines(part.leading, None)
        self.beside = part.head
        return cst.Else(self.body(statement.other), leading_lines=lines)

    def _for_stmt(self, statement: n.ForStmt) -> Statement:
        iterable = self.loop_over(statement)
        target = self.pattern(statement.pattern)
        body = self.body(statement.body)
        made = cst.For(py.bare(target), py.bare(iterable), body)  # type: ignore[arg-type]
        self.origins.note(made, statement.span)
        return made
