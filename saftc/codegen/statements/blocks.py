"""Emits blocks: statements with the comments and blank lines between them.

Imports inside a function, or below other statements of a module, stay where they are. Consecutive
imports are sorted there. Imports at the top of a module are only recorded here, and `module` writes
them.

A class is written above the first statement that needs it. If a statement names a type that the
script defines later, the type is also written above the statement.
"""

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from saftc.check.names import Symbol
from saftc.check.statements import names_bound
from saftc.codegen import python as py
from saftc.codegen.annotations import variable_annotation
from saftc.codegen.comments import beside, comment_line, with_beside
from saftc.codegen.context import Context
from saftc.codegen.imports import Imports
from saftc.codegen.layout import code_of
from saftc.codegen.python import Statement
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.comments import StatementComments
from saftc.syntax.tokens import Comment
from saftc.syntax.walk import walk

_IMPORTS = n.ImportStmt | n.FromImport
_TypeDef = n.TypeAlias | n.RecordDef


def emit_body(
    context: Context,
    statements: Sequence[n.Statement],
    head: Comment | None,
    beginning: Callable[[Context], list[Statement]] = lambda _context: [],
    ending: Sequence[Statement] = (),
) -> cst.IndentedBlock:
    """Emits the block of a statement with its comments.

    `head` is the comment at the end of the line above the block. `beginning` returns statements to
    put at the start of the block. `ending` are statements to put at its end.
    """
    inside = context.deeper()
    first = beginning(inside)
    made, footer = emit_block(inside, statements)
    footer += footer_lines(context, context.comments.footer(statements))
    if ending:
        made += [above(ending[0], footer), *ending[1:]]
        footer = []
    return py.block([*first, *made], beside(head), footer)


def emit_block(
    context: Context, statements: Sequence[n.Statement]
) -> tuple[list[Statement], list[cst.EmptyLine]]:
    """Emits the statements of a block, with the comments and blank lines between them.

    Returns the statements, and the lines of comments that are left at the end of the block.
    """
    made: list[Statement] = []
    moved: list[Comment] = []
    hoisted = {} if context.depth else _types_above(statements)
    written_above = {one for types in hoisted.values() for one in types}
    for run in _runs(context, statements):
        statement, own = run[0], _comments_of_run(context, run)
        if statement in written_above:
            continue
        if isinstance(statement, _IMPORTS) and not _stays(context, statement):
            _add_imports(context, run, context.output.imports)
            # The comments stay at the place of the import.
            moved += own.leading
            moved += [own.beside] if own.beside is not None else []
            continue
        leading = [*moved, *own.leading]
        types = [line for one in hoisted.get(statement, ()) for line in _emit_hoisted(context, one)]
        lines = [*types, *_emit_run(context, run, own, leading)]
        gap = _blank_lines_above(context, leading, statement) if made else []
        made += [above(lines[0], gap), *lines[1:]]
        moved = []
    return made, comment_lines(context, moved, None)


def _emit_hoisted(context: Context, statement: n.Statement) -> list[Statement]:
    own = context.comments.of(statement)
    return _emit_run(context, [statement], own, own.leading)


def _emit_run(
    context: Context, run: "_Run", own: StatementComments, leading: Sequence[Comment]
) -> list[Statement]:
    """Emits a run, which is one statement or several that are emitted together.

    The comments in `leading`, and the classes that the run needs, are written above it.
    """
    statement, inside = run[0], context.beside(own.inner)
    needed, around = context.output.functions, context.output.functions[:]
    needed.clear()
    if isinstance(statement, _IMPORTS):
        made = _emit_imports(context, run)
    elif len(run) > 1:
        made = list(context.group(inside, run))
    else:
        made = list(context.statement(inside, statement))
    at = len(made) - 1 if statement in context.plan.loops else 0
    made[at:at] = _declarations(context, run)
    made[:0] = needed
    needed[:] = around
    lines = comment_lines(context, [*leading, *inside.inner], statement)
    is_told = isinstance(statement, _IMPORTS) and "#" in code_of(made[-1])
    if is_told and own.beside is not None:
        # The line already ends with the comment for linters.
        lines.append(comment_line(own.beside))
        own = StatementComments(own.leading, own.inner)
    if _has_block(statement) and not isinstance(made[0], cst.SimpleStatementLine):
        lines += [comment_line(own.beside)] if own.beside is not None else []
    else:
        made[-1] = with_beside(made[-1], own.beside)
        for line in made:
            _note(context, line, statement.span)
    classes = classes_needed(context, statement.span) if context.depth == 0 else []
    if classes:
        # Comments with a blank line below belong to the classes, not to the statement.
        split = max((i for i, line in enumerate(lines) if line is py.BLANK), default=-1)
        classes[0] = above(classes[0], lines[: split + 1])
        lines = lines[split + 1 :]
    return [*classes, above(made[0], lines), *made[1:]]


def _declarations(context: Context, run: "_Run") -> Iterator[Statement]:
    """Yields `name: str` for each variable that needs an annotation above a run."""
    for statement, symbol, found in context.choices.variables.above(run, context.frame):
        target = py.name(context.names[symbol])
        yield context.note(
            py.line(py.annotated(target, variable_annotation(context, found, symbol))),
            statement.span,
        )


def classes_needed(context: Context, span: Span) -> list[Statement]:
    """Removes and returns the pending classes, for the lines above the statement at `span`."""
    classes = context.output.classes.take()
    for one in classes:
        _note(context, one, span)
    return classes


def _note(context: Context, made: Statement, span: Span) -> None:
    """Records the span of a statement without a block, or of a class and of each of its fields."""
    context.note(made, span)
    if isinstance(made, cst.ClassDef):
        for line in made.body.body:
            context.note(line, span)


def _has_block(statement: n.Statement) -> bool:
    return isinstance(statement, n.BlockStatement)


# Lines between statements


def above(made: Statement, lines: Sequence[cst.EmptyLine]) -> Statement:
    """The statement with `lines` above it and above its comments."""
    return made.with_changes(leading_lines=[*lines, *made.leading_lines]) if lines else made


def footer_lines(context: Context, comments: Sequence[Comment]) -> list[cst.EmptyLine]:
    """The comments below the last statement of a block, with the blank lines above them."""
    if not comments:
        return []
    blank = [py.BLANK] * context.source.blank_lines_above(comments[0].span.start)
    return [*blank, *comment_lines(context, comments, None)]


def comment_lines(
    context: Context, comments: Sequence[Comment], below: n.Node | None
) -> list[cst.EmptyLine]:
    """The lines of comments, with the blank lines of the script between them.

    If the node `below` follows the comments, the blank lines above it are included.
    """
    lines: list[cst.EmptyLine] = []
    for position, comment in enumerate(comments):
        if position and not comment.is_trailing:
            lines += _blank_lines_between(context, comments[position - 1], comment)
        lines.append(comment_line(comment))
    if comments and below is not None and not comments[-1].is_trailing:
        lines += [py.BLANK] * context.source.blank_lines_below(comments[-1].span.start)
    return lines


def _blank_lines_between(context: Context, one: Comment, other: Comment) -> list[cst.EmptyLine]:
    """The blank lines between two comments.

    If an import between them was moved, the larger of the gaps above and below it is kept.
    """
    below = context.source.blank_lines_below(one.span.start)
    return [py.BLANK] * max(below, context.source.blank_lines_above(other.span.start))


def _blank_lines_above(
    context: Context, leading: Sequence[Comment], statement: n.Statement
) -> list[cst.EmptyLine]:
    """The blank lines of the script above a statement and its comments."""
    start = leading[0].span.start if leading else statement.span.start
    return [py.BLANK] * context.source.blank_lines_above(start)


# Types that are defined below their first use


def _types_above(statements: Sequence[n.Statement]) -> dict[n.Statement, list[_TypeDef]]:
    """Maps each statement to the type definitions to write above it.

    These are the types that the statement names and that the script defines later.
    """
    definitions = {one.name.text: one for one in statements if isinstance(one, _TypeDef)}
    begun: set[str] = set()
    found: dict[n.Statement, list[_TypeDef]] = {}

    def needed(statement: n.Statement) -> list[_TypeDef]:
        if isinstance(statement, _TypeDef):
            begun.add(statement.name.text)
        types: list[_TypeDef] = []
        for name in _named_types(statement):
            definition = definitions.get(name)
            if definition is not None and name not in begun:
                types += [*needed(definition), definition]
        return types

    hoisted: set[n.Statement] = set()
    for statement in statements if definitions else ():
        if statement not in hoisted:
            found[statement] = needed(statement)
            hoisted.update(found[statement])
    return found


def _named_types(node: n.Node) -> Iterator[str]:
    """Yields the type names in the schemas of a statement. Python looks them up in annotations."""
    for inner in walk(node):
        if isinstance(inner, n.NamedSchema):
            yield inner.text


# Imports

# A single statement, or statements that are emitted as one: prompts that run concurrently, or
# consecutive imports in a function, which are sorted together.
_Run = list[n.Statement]


def _runs(context: Context, statements: Sequence[n.Statement]) -> list[_Run]:
    runs: list[_Run] = []
    grouped = {one for group in context.plan.groups.values() for one in group[1:]}
    for statement in statements:
        if statement in grouped:
            runs[-1].append(statement)
            continue
        follows = runs and isinstance(runs[-1][0], _IMPORTS) and isinstance(statement, _IMPORTS)
        if follows and _stays(context, statement):
            runs[-1].append(statement)
        else:
            runs.append([statement])
    return runs


def _comments_of_run(context: Context, run: _Run) -> StatementComments:
    """The comments of a run. Those of consecutive imports are all put above the first import."""
    first, *others = map(context.comments.of, run)
    if not others:
        return first
    if not isinstance(run[0], _IMPORTS):
        return StatementComments(first.leading)  # `emit_together` writes the other comments
    leading = [*first.leading, *([first.beside] if first.beside else [])]
    for own in others:
        leading += [*own.leading, *([own.beside] if own.beside else [])]
    return StatementComments(leading, first.inner)


def _stays(context: Context, statement: n.Statement) -> bool:
    """True if an import is emitted where the script has it, not at the top of the module."""
    return context.depth > 0 or statement in context.later_imports


def _emit_imports(context: Context, run: _Run) -> list[Statement]:
    """Emits imports where the script has them, such as in a function or below other statements."""
    imports = Imports(context.output.imports.siblings, context.depth, is_below=context.depth == 0)
    _add_imports(context, run, imports)
    names, types = names_bound(run), {*context.facts.aliases, *context.facts.records}
    context.output.classes.written |= {one for one in types if one.split(".")[0] in names}
    return list(imports.statements())


def _add_imports(context: Context, run: _Run, imports: Imports) -> None:
    """Adds the names in a run of import statements to `imports`."""
    for statement in run:
        for symbol, own in _own_imports(context, statement):
            imports.own.add(own)
            if not symbol.is_read:
                imports.unused.add(own)


def _own_imports(
    context: Context, statement: n.Statement
) -> Iterator[tuple[Symbol, tuple[str, str, str]]]:
    """Yields each name that an import defines, with the entry for it in `Imports.own`."""
    match statement:
        case n.ImportStmt():
            symbol = context.facts.names.of(statement.alias or statement.module)
            module = statement.module.text + _suffix(context, statement.module)
            # `import a.b` binds `a`.
            is_one = statement.alias is not None or "." not in module
            yield symbol, (module, "", context.names[symbol] if is_one else module)
        case n.FromImport():
            for imported in statement.names:
                symbol = context.facts.names.of(imported.alias or imported.name)
                name = py.field_name(imported.name.text) + _suffix(context, imported.name)
                module = statement.module.text + _suffix(context, statement.module)
                yield symbol, (module, name, context.names[symbol])
        case _:
            pass


def _suffix(context: Context, name: n.Identifier) -> str:
    """The suffix for a name in an import. It is empty unless the name is that of a script."""
    script = context.facts.named_scripts.get(name)
    return "" if script is None else context.suffix_of(script)
