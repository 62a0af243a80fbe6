"""Statements, blocks and whole modules, with their comments and blank lines."""

from collections.abc import Sequence
from typing import assert_never

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.annotations import docstring
from saftc.codegen.comments import Attached, text_of
from saftc.codegen.expressions import Expressions
from saftc.codegen.layout import code_of, lay_out, needs_layout
from saftc.codegen.prompts import Prompts
from saftc.codegen.python import Expression
from saftc.semantics.facts import FunctionFacts
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
    ANY,
    NEVER,
    NIL,
    STRING,
    LiteralType,
    Type,
    UnionType,
    is_known,
    is_only,
)
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import Comment

Written = cst.SimpleStatementLine | cst.BaseCompoundStatement

# black separates definitions by two blank lines at the top of a module, by one elsewhere.
_AROUND_TOP, _AROUND_INNER = 2, 1


class Statements(Prompts, Expressions):
    """The part of the emitter that knows statements."""

    depth: int = 0

    # Blocks

    def block(self, statements: Sequence[n.Statement]) -> list[Written]:
        """The statements of a block, with what stands above each."""
        written: list[Written] = []
        for statement in statements:
            for line in self._with_comments(statement):
                written.append(self._spaced(line, written[-1] if written else None, statement))
        return written

    def _with_comments(self, statement: n.Statement) -> list[Written]:
        """A statement, with the classes it needs above it and its comments on it."""
        own = self.comments.of(statement)
        outer_texts, outer_inner = self.texts, self.inner_comments
        self.texts, self.inner_comments = [], list(own.inner)
        lines = self._statement(statement)
        leading = [*own.leading, *self.inner_comments]
        self.texts, self.inner_comments = outer_texts, outer_inner
        if lines:
            lines[0] = lines[0].with_changes(leading_lines=self._comment_lines(leading, statement))
            if own.trailing is not None:
                lines[-1] = _beside(lines[-1], own.trailing)
        if self.depth == 0 and self.new_classes:
            lines = [*self.new_classes, *lines]  # type: ignore[list-item]
            self.new_classes = []
        return lines

    def _comment_lines(
        self, comments: Sequence[Comment], below: n.Node | None
    ) -> list[cst.EmptyLine]:
        """Comments as lines, with the blank lines between them and above what is below."""
        lines: list[cst.EmptyLine] = []
        for position, comment in enumerate(comments):
            if position and not comment.is_trailing:
                lines += self._blank(self.comments.blank_lines_before(comment.span.start))
            lines.append(cst.EmptyLine(comment=cst.Comment(text_of(comment))))
        if comments and below is not None and not comments[-1].is_trailing:
            count = self.comments.blank_lines_before(below.span.start)
            if count and isinstance(below, n.FunctionDef | n.RecordDef):
                count = self._around()
            lines += self._blank(count)
        return lines

    def _blank(self, count: int) -> list[cst.EmptyLine]:
        return [cst.EmptyLine(indent=False)] * min(count, 1 if self.depth else 2)

    def _around(self) -> int:
        return _AROUND_INNER if self.depth else _AROUND_TOP

    def _spaced(
        self, line: Written, previous: Written | None, statement: n.Statement
    ) -> Written:
        """`line` with the blank lines between it and the statement above it."""
        if previous is None:
            return line
        first = self.comments.of(statement).leading
        start = first[0].span.start if first else statement.span.start
        count = self.comments.blank_lines_before(start)
        definitions = (cst.FunctionDef, cst.ClassDef)
        if isinstance(previous, definitions) or isinstance(line, definitions):
            count = self._around()
        return line.with_changes(leading_lines=[*self._blank(count), *line.leading_lines])

    def _body(
        self,
        statements: Sequence[n.Statement],
        part: Attached,
        before: Sequence[Written] = (),
        after: Sequence[Written] = (),
    ) -> cst.IndentedBlock:
        """An indented block; `part` holds the comment beside its head."""
        self.depth += 1
        written = [*before, *self.block(statements), *after]
        footer = self._comment_lines(self.comments.footer(tuple(statements)), None)
        if footer:
            first = self.comments.footer(tuple(statements))[0]
            footer = [*self._blank(self.comments.blank_lines_before(first.span.start)), *footer]
        self.depth -= 1
        head = cst.TrailingWhitespace()
        if part.head is not None:
            head = cst.TrailingWhitespace(
                cst.SimpleWhitespace("  "), cst.Comment(text_of(part.head))
            )
        return cst.IndentedBlock(written, header=head, footer=footer)

    # Layout

    def simple(self, small: cst.BaseSmallStatement) -> Written:
        """A statement of one line, laid out when it does not fit on it."""
        line = cst.SimpleStatementLine([small])
        if not self._may_need_layout(small):
            return line
        code = code_of(line)
        if not needs_layout(code, self.depth):
            return line
        return cst.parse_statement(lay_out(code, self.depth, self.texts))  # type: ignore[return-value]

    def _may_need_layout(self, small: cst.BaseSmallStatement) -> bool:
        return True

    def headed(self, statement: Written) -> Written:
        """The head of a block, laid out when it does not fit on its line; its body is `pass`."""
        code = code_of(statement)
        head = code.rstrip("\n").removesuffix("pass").rstrip()
        if not needs_layout(head, self.depth):
            return statement
        return cst.parse_statement(lay_out(code, self.depth, self.texts))  # type: ignore[return-value]

    # Statements

    def _statement(self, statement: n.Statement) -> list[Written]:
        match statement:
            case n.FunctionDef():
                return [self._function_def(statement)]
            case n.AssignStmt():
                return [self._assign_stmt(statement)]
            case n.IfStmt():
                return [self._if_stmt(statement)]
            case n.ForStmt():
                return [self._for_stmt(statement)]
            case n.WhileStmt():
                return [self._while_stmt(statement)]
            case n.BreakStmt():
                return [self.simple(cst.Break())]
            case n.ContinueStmt():
                return [self.simple(cst.Continue())]
            case n.RetStmt():
                value = self.emit(statement.value) if statement.value is not None else None
                return [self.simple(cst.Return(value))]
            case n.AssertStmt():
                return [self._assert_stmt(statement)]
            case n.ExpressionStmt():
                return [self._expression_stmt(statement)]
            case (
                n.DestructureStmt()
                | n.TypeAlias()
                | n.RecordDef()
                | n.ImportStmt()
                | n.FromImport()
            ):
                raise NotImplementedError(type(statement).__name__)
            case _:
                assert_never(statement)

    def _assign_stmt(self, statement: n.AssignStmt) -> Written:
        self.name_classes(statement.schema, statement.name.text)
        target = py.name(self.name_of(statement.name))
        value = self.emit(statement.value)
        if statement.schema is None or not self._keeps_annotation(statement):
            annotation = self._needed_annotation(statement)
            if annotation is None:
                return self.simple(cst.Assign([cst.AssignTarget(target)], value))
        else:
            annotation = self.annotation(self.facts.schemas[statement.schema])
        return self.simple(cst.AnnAssign(target, cst.Annotation(annotation), value))

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
        return None

    def _expression_stmt(self, statement: n.ExpressionStmt) -> Written:
        value = statement.value
        if isinstance(value, n.Literal) and value.value is None:
            return self.simple(cst.Pass())
        return self.simple(cst.Expr(self.emit(value)))

    def _assert_stmt(self, statement: n.AssertStmt) -> Written:
        condition = self.condition(statement.condition)
        if statement.message is None:
            return self.simple(cst.Assert(condition))
        message = self.emit(statement.message)
        if not is_only(self.type_of(statement.message), "string"):
            message = self.shown(message)
        return self.simple(cst.Assert(condition, message))

    def _if_stmt(self, statement: n.IfStmt) -> Written:
        orelse: cst.If | cst.Else | None = None
        if statement.other:
            orelse = self._else(statement)
        for position in reversed(range(len(statement.branches))):
            branch = statement.branches[position]
            orelse = self._branch(statement, branch, position, orelse)
        assert isinstance(orelse, cst.If)
        return orelse

    def _branch(
        self,
        statement: n.IfStmt,
        branch: n.Branch,
        position: int,
        orelse: cst.If | cst.Else | None,
    ) -> cst.If:
        part = self.comments.of(statement if position == 0 else branch)
        made = self.headed(cst.If(self.condition(branch.condition), _PASS))
        made = made.with_changes(body=self._body(branch.body, part), orelse=orelse)
        if position:
            made = made.with_changes(leading_lines=self._comment_lines(part.leading, None))
        assert isinstance(made, cst.If)
        return made

    def _else(self, statement: n.IfStmt) -> cst.If | cst.Else:
        part = self.comments.others.get(statement, Attached())
        only = statement.other[0]
        if len(statement.other) == 1 and isinstance(only, n.IfStmt) and part == Attached():
            # `else: if` reads `elif`.
            own = self.comments.of(only)
            made = self._if_stmt(only)
            assert isinstance(made, cst.If)
            return made.with_changes(leading_lines=self._comment_lines(own.leading, None))
        return cst.Else(
            self._body(statement.other, part),
            leading_lines=self._comment_lines(part.leading, None),
        )

    def _for_stmt(self, statement: n.ForStmt) -> Written:
        iterable = self.loop_over(statement.pattern, statement.iterable)
        if isinstance(iterable, cst.Tuple) and len(iterable.elements) > 1:
            iterable = iterable.with_changes(lpar=[], rpar=[])
        target = self.pattern(statement.pattern)
        made = self.headed(cst.For(target, iterable, _PASS))  # type: ignore[arg-type]
        return made.with_changes(body=self._body(statement.body, self.comments.of(statement)))

    def _while_stmt(self, statement: n.WhileStmt) -> Written:
        made = self.headed(cst.While(self.condition(statement.condition), _PASS))
        return made.with_changes(body=self._body(statement.body, self.comments.of(statement)))

    # Functions

    def _function_def(self, statement: n.FunctionDef) -> Written:
        facts = self.facts.functions[statement]
        for parameter in statement.parameters:
            self.name_classes(parameter.schema, parameter.name.text)
        self.name_classes(statement.returns, statement.name.text + "_result")
        parameters = [
            self._parameter(parameter, type_)
            for parameter, type_ in zip(statement.parameters, facts.parameters, strict=True)
        ]
        returns = self._returns(facts)
        made = self.headed(
            cst.FunctionDef(
                py.name(self.name_of(statement.name)),
                cst.Parameters(parameters),
                _PASS,
                returns=cst.Annotation(returns) if returns is not None else None,
            )
        )
        outer, self.scope = self.scope, self.facts.names.scopes[statement]
        body = self._body(
            statement.body,
            self.comments.of(statement),
            before=self._beginning(statement),
            after=self._ending(statement, facts),
        )
        self.scope = outer
        return made.with_changes(body=body)

    def _parameter(self, parameter: n.Parameter, type_: Type) -> cst.Param:
        doc = self.module.docs.get(parameter)
        annotation = None
        if parameter.schema is not None or is_known(type_) or doc is not None:
            annotation = cst.Annotation(self.field_annotation(type_, doc))
        default = self.emit(parameter.default) if parameter.default is not None else None
        space = cst.SimpleWhitespace(" " if annotation is not None else "")
        return cst.Param(
            py.name(self.name_of(parameter.name)),
            annotation,
            equal=cst.AssignEqual(space, space) if default is not None else cst.MaybeSentinel.DEFAULT,
            default=default,
        )

    def _returns(self, facts: FunctionFacts) -> Expression | None:
        if facts.declared is not None:
            return self.annotation(facts.declared)
        if facts.gives == NIL:
            return py.name("None")
        return self.annotation(facts.gives) if is_known(facts.gives) else None

    def _beginning(self, statement: n.FunctionDef) -> list[Written]:
        """The docstring, and the copies of outer names that the call begins with."""
        lines: list[Written] = []
        doc = self.module.docs.get(statement)
        if doc is not None:
            lines.append(docstring(doc, self.depth + 1))
        for symbol in self.facts.names.scopes[statement].symbols.values():
            if symbol.starts_from is not None:
                outer = symbol.starts_from
                value = (
                    self.operation(outer.name)
                    if outer.kind == "builtin"
                    else py.name(self.names[outer])
                )
                target = cst.AssignTarget(py.name(self.names[symbol]))
                lines.append(cst.SimpleStatementLine([cst.Assign([target], value)]))
        return lines

    def _ending(self, statement: n.FunctionDef, facts: FunctionFacts) -> list[Written]:
        """What a function does that ends without the value it has declared."""
        declared = facts.declared
        if declared is None or statement not in self.facts.can_fall_through:
            return []
        if fit(NIL, declared) == Fit.EXACT:
            return []
        checked = self.checked(py.name("None"), declared)
        return [cst.SimpleStatementLine([cst.Return(checked)])]


_PASS = cst.SimpleStatementSuite([cst.Pass()])


def _beside(line: Written, comment: Comment) -> Written:
    """`line` with a comment at its end."""
    space = cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment(text_of(comment)))
    if isinstance(line, cst.SimpleStatementLine):
        return line.with_changes(trailing_whitespace=space)
    return line


def _place(node: n.Node) -> Span:
    return node.span


__all__ = ["ANY", "STRING", "Statements"]
