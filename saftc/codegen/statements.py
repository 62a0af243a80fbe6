"""Statements, blocks and whole modules, with their comments and blank lines."""

import ast
from collections.abc import Iterator, Sequence
from typing import assert_never

from saftc.codegen import python as py
from saftc.codegen.annotations import class_def, docstring
from saftc.codegen.comments import Attached, breaks_of, lies_in, text_of
from saftc.codegen.expressions import Expressions
from saftc.codegen.imports import Imports
from saftc.codegen.lines import Lines
from saftc.codegen.prompts import Prompts
from saftc.codegen.python import Expression
from saftc.semantics.facts import Facts, FunctionFacts
from saftc.semantics.relations import Fit, fit
from saftc.semantics.scopes import Symbol
from saftc.semantics.types import (
    NEVER,
    NIL,
    ListType,
    LiteralType,
    ObjectType,
    TupleType,
    Type,
    UnionType,
    is_known,
    is_only,
    parts,
)
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import Comment
from saftc.syntax.walk import walk

# black separates definitions by two blank lines at the top of a module, by one elsewhere.
_AROUND_TOP, _AROUND_INNER = 2, 1


class Statements(Lines, Prompts, Expressions):
    """The part of the emitter that knows statements."""

    def __init__(
        self, source: Source, module: n.Module, facts: Facts, names: dict[Symbol, str]
    ) -> None:
        super().__init__(source, module, facts, names)
        self.block_owner: n.Module | n.Statement = module
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

    # Blocks

    def block(self, statements: Sequence[n.Statement]) -> None:
        """The statements of a block, with the blank lines and comments between them."""
        follows_definition: bool | None = None
        follows_import = False
        moved: list[Comment] = []
        if self.depth:
            self._join_imports(statements)
        for statement in statements:
            if statement in self.hoisted or statement in self.joined:
                continue
            if self.depth == 0 and isinstance(statement, n.ImportStmt | n.FromImport):
                self._import(statement)
                own = self.comments.of(statement)
                # Imports go to the top; their comments stay where they were.
                moved += own.leading
                moved += [own.trailing] if own.trailing is not None else []
                continue
            self.comments.of(statement).leading[:0] = moved
            moved = []
            begin = len(self.lines)
            is_definition = self._with_comments(statement)
            if follows_definition is not None:
                count = self._gap(statement)
                if follows_definition or is_definition:
                    count = self._around()
                elif follows_import:
                    count = max(count, 1)
                self.lines[begin:begin] = [""] * count
            elif is_definition and self._follows_branch(begin):
                self.lines.insert(begin, "")
            follows_definition = self._ends_with_definition(statement)
            follows_import = bool(self._kept_imports(statement))
        self.lines += self._comment_lines(moved, None)

    def _follows_branch(self, begin: int) -> bool:
        """Whether a definition at `begin` stands right below `if`, `for` or the like."""
        is_function = isinstance(self.block_owner, n.FunctionDef | n.Module)
        has_prologue = begin > 0 and not self.lines[begin - 1].rstrip().endswith(":")
        is_first = is_function and not (self.depth and has_prologue)
        return not is_first and not self.lines[begin].lstrip().startswith("#")

    def _with_comments(self, statement: n.Statement) -> bool:
        """A statement, below the classes it needs and its comments; whether it is a definition."""
        is_hoisting = self.depth == 0 and self._types_first(statement)
        own = self.comments.of(statement)
        begin, begin_origins = len(self.lines), len(self.origins.lines)
        outer = self.texts, self.inner_comments
        self.texts, self.inner_comments = [], list(own.inner)
        self.beside = own.trailing if _is_simple(statement) else own.head
        self.statement(statement)
        above = self._comment_lines([*own.leading, *self.inner_comments], statement)
        if not _is_simple(statement) and own.trailing is not None:
            above += self._comment_lines([own.trailing], None)
        self.texts, self.inner_comments = outer
        is_definition = is_hoisting or self._is_definition(statement)
        if self.depth == 0 and self.new_classes:
            self.origins.insert(begin_origins, self.new_classes, statement.span)
            written, is_class = self._classes()
            gap = [""] * (2 if is_class or is_definition else 0)
            # What stands above with a gap is not about the statement, but about what follows.
            split = max((i for i, line in enumerate(above) if not line), default=-1)
            apart = [*_without_gap(above[: split + 1]), *[""] * 2] if split >= 0 else []
            self.lines[begin:begin] = [*apart, *written, *gap, *above[split + 1 :]]
            return is_class or is_definition
        self.lines[begin:begin] = above
        return is_definition

    def _is_definition(self, statement: n.Node) -> bool:
        """Whether a statement becomes a function or a class."""
        match statement:
            case n.FunctionDef() | n.RecordDef():
                return True
            case n.TypeAlias(schema=n.ObjectSchema(fields=fields)):
                return all(py.is_identifier(field.name.text) for field in fields)
            case _:
                return False

    def _ends_with_definition(self, statement: n.Statement) -> bool:
        """Whether the last lines of a statement are a definition's."""
        match statement:
            case n.IfStmt():
                last = statement.other or statement.branches[-1].body
            case n.ForStmt() | n.WhileStmt():
                last = statement.body
            case _:
                return self._is_definition(statement)
        return not self.comments.footer(last) and self._ends_with_definition(last[-1])

    def _types_first(self, statement: n.Statement) -> bool:
        """Writes the types that a statement names and that are defined further below.

        Whether there were any.
        """
        if not self.definitions:
            return False
        is_any = False
        if isinstance(statement, n.TypeAlias | n.RecordDef):
            self.begun_types.add(statement.name.text)
        for name in named_types(statement):
            definition = self.definitions.get(name)
            if definition is None or name in self.begun_types:
                continue
            self._types_first(definition)
            self._with_comments(definition)
            self.lines += ["", ""]
            self.hoisted.add(definition)
            is_any = True
        return is_any

    def _classes(self) -> tuple[list[str], bool]:
        """The lines of the classes that the statement needs, and whether one is a definition."""
        outer, self.lines = self.lines, []
        for made in self.new_classes:
            if self.lines:
                self.lines += ["", ""]
            self.type_definition(made)
        written, self.lines = self.lines, outer
        is_class = any(isinstance(made, ast.ClassDef) for made in self.new_classes)
        self.new_classes = []
        return written, is_class

    def _comment_lines(self, comments: Sequence[Comment], below: n.Node | None) -> list[str]:
        """Comments as lines, with the blank lines between them and above what is below."""
        lines: list[str] = []
        attached = self._attached(comments, below)
        for position, comment in enumerate(comments):
            if position and not comment.is_trailing:
                count = self._blank_lines_between(comments[position - 1], comment)
                # What stands right above a definition is apart like the definition itself.
                is_apart = count and position == attached
                lines += [""] * self._around() if is_apart else self._blank(count)
            lines.append(self.indent(text_of(comment)))
        if comments and below is not None and not comments[-1].is_trailing:
            count = self.comments.blank_lines_after(comments[-1].span.start)
            if count and self._is_definition(below):
                count = self._around()
            lines += self._blank(count)
        return lines

    def _attached(self, comments: Sequence[Comment], below: n.Node | None) -> int | None:
        """The first of the comments that stand right above a definition, without a gap."""
        if below is None or not comments or not self._is_definition(below):
            return None
        if self.comments.blank_lines_after(comments[-1].span.start):
            return None
        position = len(comments) - 1
        while position and not self._blank_lines_between(*comments[position - 1 : position + 1]):
            position -= 1
        return position

    def _blank_lines_between(self, one: Comment, other: Comment) -> int:
        """The larger gap, where an import that is now elsewhere stood between them."""
        return max(
            self.comments.blank_lines_after(one.span.start),
            self.comments.blank_lines_before(other.span.start),
        )

    def _gap(self, statement: n.Statement) -> int:
        """The blank lines of the script above a statement and its comments."""
        leading = self.comments.of(statement).leading
        start = leading[0].span.start if leading else statement.span.start
        return len(self._blank(self.comments.blank_lines_before(start)))

    def _blank(self, count: int) -> list[str]:
        return [""] * min(count, 1 if self.depth else 2)

    def _around(self) -> int:
        return _AROUND_INNER if self.depth else _AROUND_TOP

    def body(self, owner: n.Statement, statements: Sequence[n.Statement]) -> None:
        """The inside of a block of `owner`, with the comments at its end."""
        self.depth += 1
        outer, self.block_owner = self.block_owner, owner
        self.block(statements)
        self.block_owner = outer
        footer = self.comments.footer(tuple(statements))
        self.footer(statements, footer)
        self.depth -= 1

    def footer(self, statements: Sequence[n.Statement], comments: Sequence[Comment]) -> None:
        """The comments below the last of the statements."""
        if not comments:
            return
        count = self.comments.blank_lines_before(comments[0].span.start)
        last = next((one for one in reversed(statements) if one not in self.joined), None)
        if last is not None and self._ends_with_definition(last):
            count = self._around()
        elif last is not None and self.depth and self._kept_imports(last):
            count = max(count, 1)
        self.lines += self._blank(count) if self.lines else []
        self.lines += self._comment_lines(comments, None)

    # Statements

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

    def _import(self, statement: n.ImportStmt | n.FromImport) -> None:
        """Imports of the module go to its top, unused ones nowhere; a call's stay in the call."""
        kept = self._kept_imports(statement)
        if self.depth == 0:
            self.imports.own |= kept
            return
        for position, group in enumerate(Imports(own=kept).render().split("\n\n")):
            self.lines += [""] * (position > 0)
            for line in ast.parse(group or "pass").body:
                self.simple(line, statement.span)

    def _join_imports(self, statements: Sequence[n.Statement]) -> None:
        """Makes one of the imports that follow each other, so that they can be sorted.

        Their comments go above the first.
        """
        first: n.Statement | None = None
        for statement in statements:
            if not isinstance(statement, n.ImportStmt | n.FromImport):
                first = None
            elif first is None:
                first = statement
            else:
                self.joined.add(statement)
                self.import_runs.setdefault(first, []).append(statement)
                into, own = self.comments.of(first), self.comments.of(statement)
                into.leading += [c for c in (into.trailing, *own.leading, own.trailing) if c]
                into.trailing = None

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

    # Types

    def _type_alias(self, statement: n.TypeAlias) -> None:
        name = statement.name.text
        type_ = self.facts.aliases[name]
        doc = self.module.docs.get(statement)
        if isinstance(statement.schema, n.ObjectSchema) and isinstance(type_, ObjectType):
            for field in statement.schema.fields:
                self.name_classes(field.schema, field.name.text)
            self.write_class(type_, name, doc or "")
            made = self.new_classes.pop()
            self.origins.insert(len(self.origins.lines), [made], statement.span)
            self.type_definition(made)
        else:
            self.name_classes(statement.schema, name + "_part")
            target = py.name(self.name_of(statement.name))
            self.alias_of.pop(type_, None)
            value = self.field_annotation(type_, doc)
            if isinstance(type_, UnionType | LiteralType | ListType | TupleType):
                self.alias_of[type_] = name
            self.simple(py.assignment(target, value), statement.span)
        self.written_types.add(name)

    def _record_def(self, statement: n.RecordDef) -> None:
        name = statement.name.text
        facts = self.facts.records[name]
        for field in statement.fields:
            self.name_classes(field.schema, field.name.text)
        entries = [
            (
                py.field_name(field.name.text),
                self.field_annotation(type_, self.module.docs.get(field)),
            )
            for field, type_ in zip(statement.fields, facts.fields.values(), strict=True)
        ]
        frozen = py.call(self.global_("dataclass"), named=[("frozen", py.constant(True))])
        made = class_def(
            self.name_of(statement.name),
            [],
            entries,
            self.module.docs.get(statement, ""),
            [frozen],
            self._record_defaults(statement),
        )
        self.origins.insert(len(self.origins.lines), [made], statement.span)
        self.type_definition(made)
        self.written_types.add(name)

    def _record_defaults(self, statement: n.RecordDef) -> dict[str, Expression]:
        """The defaults of a record's fields; an optional field at the end has nil."""
        defaults: dict[str, Expression] = {}
        only_optional = True
        for field in reversed(statement.fields):
            name = py.field_name(field.name.text)
            if field.default is not None:
                defaults[name] = self._field_default(field.default)
            elif isinstance(field.schema, n.OptionalSchema) and only_optional:
                defaults[name] = py.constant(None)
            else:
                only_optional = False
        return defaults

    def _field_default(self, node: n.Expression) -> Expression:
        value = self.emit(node)
        if not isinstance(value, ast.List | ast.Dict):
            return value
        # Python shares a default between all records and refuses one that could be changed.
        is_list = isinstance(value, ast.List)
        is_empty = not (value.elts if is_list else value.values)
        factory = (
            self.global_("list" if is_list else "dict")
            if is_empty
            else ast.Lambda(py.parameters([]), value)
        )
        return py.call(self.global_("field"), named=[("default_factory", factory)])

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
        self.headed_elif(made, branch.span)

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

    # Functions

    def _function_def(self, statement: n.FunctionDef) -> None:
        facts = self.facts.functions[statement]
        for parameter in statement.parameters:
            self.name_classes(parameter.schema, parameter.name.text)
        self.name_classes(statement.returns, statement.name.text + "_result")
        parameters = py.parameters(
            [
                self._parameter(parameter, type_)
                for parameter, type_ in zip(statement.parameters, facts.parameters, strict=True)
            ]
        )
        name = self.name_of(statement.name)
        head = ast.FunctionDef(name, parameters, [], [], self._returns(facts))
        if self.inner_comments and statement.parameters:
            self._comments_between(head, statement)
        self.headed(head, statement.span)
        outer, self.scope = self.scope, self.facts.names.scopes[statement]
        self.depth += 1
        self._beginning(statement)
        self.depth -= 1
        self.body(statement, statement.body)
        self.depth += 1
        self._ending(statement, facts)
        self.depth -= 1
        self.scope = outer

    def _comments_between(self, head: ast.FunctionDef, statement: n.FunctionDef) -> None:
        """Puts the comments between the parameters into the head."""
        listed = Span(statement.span.start, self.comments.parameters_end(statement))
        inner = [comment for comment in self.inner_comments if lies_in(comment, listed)]
        if not inner:
            return
        self.inner_comments = [c for c in self.inner_comments if c not in inner]
        places = [parameter.span for parameter in statement.parameters]
        self.breaks[head] = breaks_of(places, len(places), inner, self.source)

    def _parameter(
        self, parameter: n.Parameter, type_: Type
    ) -> tuple[str, Expression | None, Expression | None]:
        """The name, annotation and default of a parameter."""
        doc = self.module.docs.get(parameter)
        annotation = None
        if parameter.schema is not None or is_known(type_) or doc is not None:
            annotation = self.field_annotation(type_, doc)
        default = self.emit(parameter.default) if parameter.default is not None else None
        return self.name_of(parameter.name), annotation, default

    def _returns(self, facts: FunctionFacts) -> Expression | None:
        if facts.declared is not None:
            return self.annotation(facts.declared)
        if facts.node in self.facts.history.does:
            return py.subscript(self.global_("Result"), self.annotation(facts.gives))
        if facts.gives == NIL:
            return py.constant(None)
        return self.annotation(facts.gives) if is_known(facts.gives) else None

    def _beginning(self, statement: n.FunctionDef) -> None:
        """The docstring, and the copies of outer names that the call begins with."""
        doc = self.module.docs.get(statement)
        if doc is not None:
            line = docstring(doc)
            self.origins.add(line, statement.span)
            self.docstring(line)
        for symbol in self.facts.names.scopes[statement].symbols.values():
            outer = symbol.starts_from
            if outer is None:
                continue
            is_builtin = outer.kind == "builtin"
            value = self.operation(outer.name) if is_builtin else py.name(self.names[outer])
            copy = py.assignment(py.name(self.names[symbol]), value)
            if not symbol.starts_late:
                self.simple(copy, statement.name.span)
                continue
            # The outer name may not have a value by then; it is needed only on some paths.
            unset = py.call(self.global_("suppress"), [self.global_("NameError")])
            self.headed(ast.With([ast.withitem(unset)], []), statement.name.span)
            self.depth += 1
            self.simple(copy, statement.name.span)
            self.depth -= 1

    def _ending(self, statement: n.FunctionDef, facts: FunctionFacts) -> None:
        """What a function does that ends without the value it has declared."""
        declared = facts.declared
        if declared is None or statement not in self.facts.can_fall_through:
            return
        if fit(NIL, declared) != Fit.EXACT:
            checked = self.checked(py.constant(None), declared)
            self.simple(ast.Return(checked), statement.name.span)


def _without_gap(lines: list[str]) -> list[str]:
    """The lines without the blank ones at their end."""
    end = len(lines)
    while end and not lines[end - 1]:
        end -= 1
    return lines[:end]


def _is_simple(statement: n.Statement) -> bool:
    """Whether a statement has no block."""
    return not isinstance(statement, n.FunctionDef | n.IfStmt | n.ForStmt | n.WhileStmt)


def named_types(node: n.Node) -> Iterator[str]:
    """The named types in the schemas of a statement that Python evaluates with it."""
    for inner in walk(node):
        if isinstance(inner, n.NamedSchema):
            yield inner.text
