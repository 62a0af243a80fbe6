"""Blocks: the blank lines and comments between statements, and what stands above them.

Imports inside of a function stay there, those that follow each other sorted; those of the module
are only noted here, `module` writes them. Classes go above the statement that needs them first.
"""

import ast
from abc import abstractmethod
from collections.abc import Iterator, Sequence

from saftc.codegen import python as py
from saftc.codegen.annotations import Annotations
from saftc.codegen.comments import text_of
from saftc.codegen.imports import Imports
from saftc.codegen.lines import Lines
from saftc.semantics.facts import Facts
from saftc.semantics.scopes import Symbol
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.tokens import Comment
from saftc.syntax.walk import walk

# black separates definitions by two blank lines at the top of a module, by one elsewhere.
_AROUND_TOP, _AROUND_INNER = 2, 1

_IMPORTS = n.ImportStmt | n.FromImport


class Blocks(Lines, Annotations):
    """The part of the emitter that knows what stands between statements."""

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

    @abstractmethod
    def statement(self, statement: n.Statement) -> None:
        """Writes a statement."""

    # Blocks

    def block(self, statements: Sequence[n.Statement]) -> None:
        """The statements of a block, with the blank lines and comments between them."""
        follows_definition: bool | None = None
        follows_import = False
        moved: list[Comment] = []
        if self.depth:
            self._join_imports(statements)
        for position, statement in enumerate(statements):
            if statement in self.hoisted or statement in self.joined:
                continue
            if self._is_import_elsewhere(statements, position):
                self.imports.own |= self._kept_imports(statement)
                # Its comments stay where they were.
                own = self.comments.of(statement)
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
            follows_import = isinstance(statement, _IMPORTS) and bool(self._kept_imports(statement))
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
        self.footer(statements, self.comments.footer(tuple(statements)))
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

    def _import(self, statement: n.ImportStmt | n.FromImport) -> None:
        """Writes the import of a call, or one that is inside of an `if` or the like."""
        kept = self._kept_imports(statement)
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
            if not isinstance(statement, _IMPORTS):
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
