"""Emits statements of all kinds. `blocks` emits the blocks in them, and their comments."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

import libcst as cst

from saftc.check.forms import BuiltinCall, Form
from saftc.check.names import Symbol
from saftc.codegen import python as py
from saftc.codegen.annotations import annotation, checked, variable_annotation
from saftc.codegen.context import Caught, Context
from saftc.codegen.expressions.builtins import shown, written
from saftc.codegen.expressions.operators import emit_condition, emit_failing_condition
from saftc.codegen.expressions.prompts import (
    emit_destructured,
    emit_parts,
    emit_result,
    spread_line,
)
from saftc.codegen.python import Expression, Statement
from saftc.codegen.statements.blocks import comment_lines, emit_body
from saftc.codegen.statements.definitions import emit_function_def, emit_record_def, emit_type_alias
from saftc.codegen.statements.growth import emit_growth
from saftc.codegen.statements.loops import emit_pattern, loop_over, shape, waits_for_parts
from saftc.codegen.statements.overlaps import emit_loop_output, emit_pipelined_loop
from saftc.codegen.statements.servers import emit_server_import
from saftc.formatter.documents import render
from saftc.formatter.expressions import write_expression
from saftc.formatter.original import Original
from saftc.lower.values import Text
from saftc.syntax import nodes as n
from saftc.syntax.comments import StatementComments
from saftc.types.types import FAILURE


def emit_statement(context: Context, statement: n.Statement) -> Sequence[Statement]:
    """Emits a statement as Python statements, without the comments above and beside it."""
    match statement:
        case n.FunctionDef():
            return [emit_function_def(context, statement)]
        case n.TypeAlias():
            return [emit_type_alias(context, statement)]
        case n.RecordDef():
            return [emit_record_def(context, statement)]
        case n.IfStmt():
            return [emit_if_stmt(context, statement, None)]
        case n.ForStmt():
            ahead = context.plan.loops.get(statement)
            if ahead is not None:
                return emit_pipelined_loop(context, statement, ahead)
            return emit_for_stmt(context, statement)
        case n.WhileStmt():
            return [emit_while_stmt(context, statement)]
        case n.TryStmt():
            return [emit_try_stmt(context, statement)]
        case n.AssignStmt() | n.AugmentedAssignStmt() if statement in context.choices.growth:
            target = py.name(context.name_of(statement.name))
            change = emit_growth(context, target, context.choices.growth[statement])
            return spread_line(context, statement, change)
        case n.AssignStmt():
            return spread_line(context, statement, emit_assign_stmt(context, statement))
        case n.AugmentedAssignStmt():
            return spread_line(context, statement, emit_augmented_assign_stmt(context, statement))
        case n.UnpackStmt():
            return spread_line(context, statement, emit_unpack_stmt(context, statement))
        case n.DestructureStmt():
            return spread_line(context, statement, emit_destructure_stmt(context, statement))
        case n.RetStmt():
            return spread_line(context, statement, emit_ret_stmt(context, statement))
        case n.AssertStmt():
            if isinstance(context.scope.owner, n.RecordDef):
                return [py.line(emit_rule(context, statement))]
            return [emit_assert_stmt(context, statement)]
        case n.ExpressionStmt():
            streamed = _printed_stream(context, statement)
            if streamed is not None:
                return emit_printed_stream(context, statement, streamed)
            return spread_line(context, statement, emit_expression_stmt(context, statement))
        case n.FailStmt():
            return [py.line(emit_fail_stmt(context, statement))]
        case n.BreakStmt():
            return [py.line(cst.Break())]
        case n.ContinueStmt():
            ahead = context.plan.ends.get(statement)
            if ahead is not None:
                return [emit_loop_output(context, ahead, statement.span)]
            return [py.line(cst.Continue())]
        case n.ImportStmt() | n.FromImport():
            # Imports are emitted in groups: see blocks.py.
            raise AssertionError
        case n.ServerImport():
            return emit_server_import(context, statement)
        case _:
            assert_never(statement)


# Statements without a block

_ANY_WIDTH = 1_000_000


def emit_assign_stmt(
    context: Context, statement: n.AssignStmt
) -> cst.Assign | cst.AnnAssign | cst.Expr:
    """Emits `name = value` or `name: schema = value`."""
    context.output.classes.name_schema(statement.schema, statement.name.text)
    target = py.name(context.name_of(statement.name))
    if context.facts.keeps_history(statement.name):
        return py.assignment(target, emit_result(context, statement.value))
    return _assigned(context, statement, target)


def emit_augmented_assign_stmt(
    context: Context, statement: n.AugmentedAssignStmt
) -> cst.Assign | cst.AnnAssign | cst.AugAssign:
    """Emits `name += value`.

    For a list, which `+=` would change in place, `name = name + value` is emitted.
    """
    target, operation = py.name(context.name_of(statement.name)), statement.value
    read = context.emit(operation.left)
    is_same = isinstance(read, cst.Name) and read.value == target.value
    if is_same and context.facts.adds_alike(operation):
        return py.augmented(target, operation.operator, context.emit(operation.right))
    return _assigned(context, statement, target)


def _assigned(
    context: Context,
    statement: n.AssignStmt | n.AugmentedAssignStmt,
    target: cst.Name,
    value: Expression | None = None,
) -> cst.Assign | cst.AnnAssign:
    """Emits an assignment to `target`, with an annotation if the variable needs one there.

    `value` is the assigned value if it has been emitted already, else None.
    """
    value = context.emit(statement.value) if value is None else value
    symbol = context.facts.names.of(statement.name)
    found = context.choices.variables.beside(statement, context.frame)
    if found is None:
        return py.assignment(target, value)
    return py.annotated(target, variable_annotation(context, found, symbol), value)


def emit_unpack_stmt(context: Context, statement: n.UnpackStmt) -> cst.Assign:
    """Emits `a, b = value`, with a check unless the types prove that the value has this length."""
    target, value = emit_pattern(context, statement.pattern), context.emit(statement.value)
    if context.facts.forms.unpackings[statement] == Form.OPS:
        value = context.note(
            context.operation("unpack", value, shape(statement.pattern)), statement.span
        )
    return py.assignment(target, py.bare(value))


def emit_destructure_stmt(context: Context, statement: n.DestructureStmt) -> cst.Assign:
    """Emits `{name: schema} = $ ... $` as an assignment to a tuple."""
    assert isinstance(statement.value, n.Prompt)
    for field in statement.fields:
        context.output.classes.name_schema(field.schema, field.name.text)
    names = [py.name(context.name_of(field.name)) for field in statement.fields]
    part = "fields" if context.facts.keeps_history(statement.fields[0].name) else "value"
    result = emit_destructured(context, statement.value, statement.fields)
    return py.assignment(py.tuple_(names), py.attribute(result, part))


def emit_ret_stmt(context: Context, statement: n.RetStmt) -> cst.Return:
    """Emits `ret value`, with a check if type checkers need one."""
    if statement.value is None:
        return py.returned(None)
    owner = context.scope.call.owner
    if owner in context.facts.history.does:
        return py.returned(emit_result(context, statement.value))
    value = context.returned().emit(statement.value)
    assert isinstance(owner, n.FunctionDef)
    wanted = context.facts.functions[owner].returns
    if context.choices.is_checked(statement.value, wanted, context.frame):
        value = checked(context, value, wanted)
    return py.returned(value)


def emit_expression_stmt(
    context: Context, statement: n.ExpressionStmt
) -> cst.Expr | cst.Raise | cst.Pass:
    """Emits an expression as a statement.

    A call of `ambiguous` becomes `raise`, for type checkers.
    """
    value = statement.value
    if isinstance(value, n.Literal) and not isinstance(value.value, int | float):
        # A string would become a docstring here.
        return cst.Pass()
    if isinstance(value, n.FormattedString) and not any(
        isinstance(part, n.FormatHole) for part in value.parts
    ):
        return cst.Pass()
    if isinstance(value, n.Call):
        form = context.facts.forms.calls[value]
        if isinstance(form, BuiltinCall) and form.builtin.name == "ambiguous":
            return raised(context, context.emit(value))
    emit = emit_result if isinstance(value, n.Prompt) else Context.emit
    return cst.Expr(emit(context, value))


def _printed_stream(context: Context, statement: n.ExpressionStmt) -> n.Prompt | None:
    """Returns the prompt of `print(stream $ ... $)`, or None for other statements."""
    if not isinstance(statement.value, n.Call):
        return None
    match context.facts.forms.calls.get(statement.value):
        case BuiltinCall(builtin=builtin, arguments=(n.Prompt(is_streamed=True) as node,)):
            return node if builtin.name == "print" else None
        case _:
            return None


def emit_printed_stream(
    context: Context, statement: n.ExpressionStmt, node: n.Prompt
) -> list[Statement]:
    """Emits a loop that prints the chunks of the reply to a prompt, and ends the line."""
    part = context.global_("part")
    line = py.line(cst.Expr(written(context, part)))
    body = cst.IndentedBlock([line])
    loop = py.loop(part, emit_parts(context, node, "pieces"), body, is_async=context.is_async)
    end = py.line(cst.Expr(py.call(context.global_("print"))))
    for one in (line, loop, end):
        context.note(one, statement.span)
    return [loop, end]


def emit_assert_stmt(context: Context, statement: n.AssertStmt) -> Statement:
    """Emits `if not condition: raise AssertionError(message)`.

    The output has no `assert`, because Python may be told to skip it.
    """
    made: Expression = context.global_("AssertionError")
    if statement.message is not None:
        made = py.call(made, [_message(context, statement.message)])
    failing = context.note(py.line(raised(context, made)), statement.span)
    if isinstance(statement.condition, n.Literal) and statement.condition.value is False:
        return failing
    condition = emit_failing_condition(context, statement.condition)
    return cst.If(condition, py.block([failing]))


def _message(context: Context, node: n.Expression) -> Expression:
    message = context.emit(node)
    is_text = context.choices.values.text(node) == Text.ITSELF
    return message if is_text else shown(context, message)


def emit_rule(context: Context, statement: n.AssertStmt) -> cst.Expr:
    """Emits `require(condition, message)`. The default message contains the condition."""
    condition = emit_condition(context, statement.condition)
    if statement.message is None:
        message = py.constant(f"expected {_written(context, statement.condition)}")
    else:
        message = _message(context, statement.message)
        if context.choices.values.is_made_late(statement.message):
            message = py.lambda_(message)
    made = context.note(py.call(context.global_("require"), [condition, message]), statement.span)
    return cst.Expr(made)


def _written(context: Context, node: n.Expression) -> str:
    """Returns the text of an expression in the script's syntax, on one line."""
    original = Original(context.source, context.module)
    return render(write_expression(original, node), _ANY_WIDTH, 0)


def emit_fail_stmt(context: Context, statement: n.FailStmt) -> cst.Raise:
    """Emits `fail value`.

    If the value is the failure that was just caught, only `raise` is emitted.
    """
    if statement in context.facts.names.passed_on:
        return cst.Raise()
    value = context.emit(statement.value)
    if context.type_of(statement.value) == FAILURE:
        # The failure was raised before, and keeps its original cause.
        if isinstance(statement.value, n.Name) and isinstance(value, cst.Call):
            return cst.Raise(value.args[0].value)  # `failure(error)`
        return cst.Raise(py.attribute(value, "exception"))
    return raised(context, py.call(context.global_("Failed"), [value]))


def raised(context: Context, value: Expression) -> cst.Raise:
    """Emits `raise value`. Inside of an `except` block, the caught exception is the cause."""
    if not context.caught:
        return cst.Raise(value)
    caught = context.caught[0]
    caught.is_read = True
    return cst.Raise(value, cst.From(py.name(caught.name)))


# Branches and loops


def emit_if_stmt(context: Context, statement: n.IfStmt, part: StatementComments | None) -> cst.If:
    """Emits `if` with its branches.

    `part` has the comments of an `if` that is alone in an `else` and becomes `elif`. For every
    other `if`, it is None.
    """
    first, *others = statement.branches
    if part is None:
        head = context.comments.of(statement).head
        condition = emit_condition(context, first.condition)
        made = [cst.If(condition, emit_body(context, first.body, head))]
    else:
        made = [_branch(context, first, part)]
    made += [_branch(context, branch, context.comments.of(branch)) for branch in others]
    orelse = _else(context, statement) if statement.other else None
    for branch, one in reversed(list(zip(statement.branches, made, strict=True))):
        orelse = context.note(one.with_changes(orelse=orelse), branch.span)
    assert isinstance(orelse, cst.If)
    return orelse


def _branch(context: Context, branch: n.Branch, part: StatementComments) -> cst.If:
    """Emits an `elif`. Comments in its condition that fit nowhere else are written above it."""
    inside = context.beside(part.inner)
    condition = emit_condition(inside, branch.condition)
    lines = comment_lines(context, [*part.leading, *inside.inner], None)
    return cst.If(condition, emit_body(context, branch.body, part.head), leading_lines=lines)


def _else(context: Context, statement: n.IfStmt) -> cst.If | cst.Else:
    part = context.comments.of_else(statement)
    only = statement.other[0]
    if len(statement.other) == 1 and isinstance(only, n.IfStmt) and part == StatementComments():
        return emit_if_stmt(context, only, context.comments.of(only))
    lines = comment_lines(context, part.leading, None)
    return cst.Else(emit_body(context, statement.other, part.head), leading_lines=lines)


def emit_for_stmt(context: Context, statement: n.ForStmt) -> list[Statement]:
    """Emits `for pattern in iterable:`."""
    if isinstance(statement.pattern, n.NamePattern):
        context.output.classes.name_schema(statement.schema, statement.pattern.name.text)
    iterable = loop_over(context, statement)
    target = emit_pattern(context, statement.pattern)
    before: list[Statement] = []
    beginning: Callable[[Context], list[Statement]] = _nothing
    if context.facts.forms.loops[statement] == Form.GROWING:
        draft = _Growing(context, statement)
        before = [draft.empty(context)]
        target, beginning = context.global_("item"), draft.longer

    head = context.comments.of(statement).head
    body = emit_body(context, statement.body, head, beginning)
    made = context.note(
        py.loop(target, iterable, body, is_async=waits_for_parts(context, statement)),
        statement.span,
    )
    return [*before, made]


def _nothing(context: Context) -> list[Statement]:
    return []


class _Growing:
    """The list that grows in a loop over drafts of a streamed list.

    A draft is the part of the streamed list that has arrived so far. Each turn assigns the list to
    the variable of the draft.
    """

    def __init__(self, context: Context, statement: n.ForStmt) -> None:
        self.statement = statement
        self.name = context.choices.variables.list_of_draft(statement, context.frame)

    def empty(self, context: Context) -> Statement:
        """Emits `draft_so_far = list[Row]()` above the loop."""
        made = py.call(annotation(context, context.facts.item_of(self.statement)))
        return self._line(context, py.assignment(context.global_(self.name), made))

    def longer(self, context: Context) -> list[Statement]:
        """Emits `draft_so_far = [*draft_so_far, item]` and `draft = draft_so_far`.

        The list is new, because other names may refer to the previous one.
        """
        grown, item = context.global_(self.name), context.global_("item")
        longer = py.assignment(grown, py.list_([py.starred(grown), item]))
        draft = py.assignment(emit_pattern(context, self.statement.pattern), grown)
        return [self._line(context, longer), self._line(context, draft)]

    def _line(self, context: Context, small: cst.Assign) -> Statement:
        return context.note(py.line(small), self.statement.span)


def emit_try_stmt(context: Context, statement: n.TryStmt) -> cst.Try:
    """Emits `try:` and `except Exception as error:`."""
    body = emit_body(context, statement.body, context.comments.of(statement).head)
    part = context.comments.of_else(statement)
    error = None if statement.error is None else context.facts.names.of(statement.error)
    caught = _caught(context, error)

    def beginning(inside: Context) -> list[Statement]:
        if error is None or not error.is_read or caught.is_failure:
            return []
        made = py.call(inside.global_("failure"), [py.name(caught.name)])
        caught.is_read = True
        line = inside.note(
            py.line(py.assignment(py.name(inside.names[error]), made)), statement.span
        )
        return [line]

    inside = replace(context, caught=(caught, *context.caught))
    block = emit_body(inside, statement.handler, part.head, beginning)
    handler = cst.ExceptHandler(
        block,
        context.global_("Exception"),
        cst.AsName(py.name(caught.name)) if caught.is_read else None,
        comment_lines(context, part.leading, None),
    )
    return context.note(cst.Try(body, [handler]), statement.span)


def _caught(context: Context, error: Symbol | None) -> Caught:
    """The exception that an `except` block catches.

    Its Python name is that of the script's variable for the failure. If the failure has a separate
    variable, the exception is called `exception`.
    """
    if error is not None and not context.choices.keeps_failure(error):
        return Caught(context.names[error], is_failure=True)
    name = "exception"
    while any(one.name == name for one in context.caught):
        name += "_"  # Python deletes the name at the end of a handler
    return Caught(context.global_(name).value, is_failure=False)


def emit_while_stmt(context: Context, statement: n.WhileStmt) -> cst.While:
    """Emits `while condition:`."""
    condition = emit_condition(context, statement.condition)
    body = emit_body(context, statement.body, context.comments.of(statement).head)
    return context.note(cst.While(condition, body), statement.span)
