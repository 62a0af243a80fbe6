"""Statements as lines: indented, laid out where they do not fit, with the comment beside them."""

import ast

from saftc.codegen.base import Base
from saftc.codegen.comments import text_of
from saftc.codegen.layout import lay_out, lay_out_listing, needs_layout
from saftc.codegen.printing import INDENT
from saftc.semantics.facts import Facts
from saftc.semantics.scopes import Symbol
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import Comment


class Lines(Base):
    """The part of the emitter that writes `lines`, top to bottom, `depth` blocks deep."""

    def __init__(
        self, source: Source, module: n.Module, facts: Facts, names: dict[Symbol, str]
    ) -> None:
        super().__init__(source, module, facts, names)
        self.lines: list[str] = []
        self.depth: int = 0
        # The comment that goes to the end of the line that is written next.
        self.beside: Comment | None = None

    def write(self, code: str) -> None:
        """Writes lines as they are, at the current depth."""
        self.lines += [self.indent(line) for line in code.rstrip("\n").split("\n")]

    def indent(self, line: str) -> str:
        """A line at the current depth."""
        return INDENT * self.depth + line if line else line

    def simple(self, statement: ast.stmt, span: Span) -> None:
        """Writes a statement without a block."""
        self.origins.add(statement, span)
        self._simple(statement)

    def _simple(self, statement: ast.stmt) -> None:
        beside = self.take_beside()
        code = self.printer.simple(statement) + beside
        if needs_layout(code, self.depth):
            laid_out = None
            if not beside:
                laid_out = lay_out_listing(
                    statement, self.depth, self.texts, self.breaks, self.prompts
                )
            code = laid_out or lay_out(code, self.depth, self.texts)
        self.write(code)

    def headed(self, statement: ast.stmt, span: Span, word: str = "if") -> None:
        """Writes the head of a block; `word` begins that of an `if`."""
        self.origins.add(statement, span)
        code = self.printer.head(statement, word) + self.take_beside()
        if needs_layout(code, self.depth):
            # An `elif` alone is no statement.
            above = f"if 0:\n{INDENT}pass\n" if word == "elif" else ""
            code = lay_out(f"{above}{code}\n{INDENT}pass", self.depth, self.texts)
            code = code.removeprefix(above).rstrip().removesuffix("pass").rstrip()
        self.write(code)

    def type_definition(self, made: ast.stmt) -> None:
        """Writes a class whose body has no blocks, or the assignment that stands for one."""
        if not isinstance(made, ast.ClassDef):
            self._simple(made)
            return
        for decorator in made.decorator_list:
            self.write("@" + self.printer.expression(decorator))
        self.write(self.printer.head(made) + self.take_beside())
        self.depth += 1
        for line in made.body:
            if isinstance(line, ast.Expr):
                self.docstring(line)
                self.lines += [""] * (len(made.body) > 1)
            else:
                self._simple(line)
        self.depth -= 1

    def docstring(self, made: ast.Expr) -> None:
        """Writes a docstring."""
        self.write(self.printer.simple(made))

    def take_beside(self) -> str:
        """What stands behind the next line."""
        comment, self.beside = self.beside, None
        return "" if comment is None else "  " + text_of(comment)
