"""Emits code that runs concurrently, as `saftc.overlap` has planned.

[triage(mail) for mail in mails]        list(overlap(triage, mails))

for path in paths:                      def ask_path(path: str) -> tuple[str, str]:
    mail = read_text(path)                  mail = read_text(path)
    title = $ A title for {mail} $          title = prompt(...).value
    print(path, title)                      return path, title

                                        for path, title in overlap(ask_path, paths):
                                            print(path, title)

title = $ ... $                         title, motto = together(
motto = $ ... $                             later(prompt, ...),
                                            later(prompt, ...),
                                        )
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst

from saftc.check.names import Symbol
from saftc.check.statements import all_statements, bound_by
from saftc.codegen import python as py
from saftc.codegen.annotations import annotation, variable_annotation
from saftc.codegen.comments import beside, with_beside, with_comments
from saftc.codegen.context import Context
from saftc.codegen.expressions.literals import emit_computed
from saftc.codegen.expressions.operators import emit_condition
from saftc.codegen.expressions.prompts import (
    emit_destructured,
    emit_result,
    spread_line,
    template_of,
)
from saftc.codegen.layout import WIDTH, code_of
from saftc.codegen.python import Expression, Statement
from saftc.codegen.statements.blocks import above, emit_block, footer_lines
from saftc.codegen.statements.loops import emit_pattern, loop_over
from saftc.overlap.loop_values import LoopOutput
from saftc.overlap.plan import Mapped, PipelinedLoop, call_of_item
from saftc.overlap.prefixes import LoopPrefix
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import Comment
from saftc.types.types import ANY, INT, STRING, MapType, TupleType, Type, item_type, keys_of

# Comprehensions


def emit_mapped(context: Context, node: n.Comprehension, mapped: Mapped) -> Expression:
    """Emits a comprehension as `list(overlap(function, items))`.

    For an object, the function returns a key and its value, and `dict` replaces `list`.
    """
    inside = context.within(context.facts.names.scopes[node])
    called = mapped.call
    given = None if called is None else called.arguments[0].value
    names = [py.name(context.names[symbol]) for symbol in mapped.symbols]
    item = names[0] if len(names) == 1 else py.tuple_(names)
    items = _items(inside, node, item if given is None else inside.emit(given))
    if called is not None:
        function = inside.emit(called.function)
    elif mapped.name is not None:
        context.output.functions.append(_function_of_items(inside, node, mapped, mapped.name))
        function = py.name(mapped.name)
    else:
        function = py.lambda_(_emit_item(inside, node), [(names[0].value, None, None)])
    made = _overlap(context, function, items, (called or node).span)
    if context.is_async:
        made = py.awaited(made)
    if isinstance(node.item, n.ComputedField):
        return py.call(context.global_("dict"), [made])
    return made if context.is_async else py.call(context.global_("list"), [made])


def _emit_item(inside: Context, node: n.Comprehension) -> Expression:
    """Emits the item of a comprehension.

    For an object, the item is a tuple of a key and its value.
    """
    if isinstance(node.item, n.ComputedField):
        return py.tuple_(emit_computed(inside, node.item))
    return inside.emit(node.item)


def _type_of_item(inside: Context, node: n.Comprehension) -> Type:
    if isinstance(node.item, n.ComputedField):
        made = inside.type_of(node)
        key = keys_of(made) if isinstance(made, MapType) else STRING
        return TupleType((key, inside.type_of(node.item.value)))
    return inside.type_of(node.item)


def _items(inside: Context, node: n.Comprehension, item: Expression) -> Expression:
    """Emits the list of the values for which a comprehension's function is called.

    It is the iterable of the comprehension, or a new comprehension that computes the values.
    """
    clauses = [
        (
            emit_pattern(inside, clause.pattern),
            loop_over(inside, clause),
            [emit_condition(inside, condition) for condition in clause.conditions],
        )
        for clause in node.clauses
    ]
    [(target, items, conditions), *others] = clauses
    if others or conditions or not target.deep_equals(item):
        return py.comprehension(item, clauses)
    return items


def _function_of_items(
    inside: Context, node: n.Comprehension, mapped: Mapped, name: str
) -> cst.FunctionDef:
    """Emits the function that computes an item of a comprehension.

    The function takes the variables of the comprehension's clauses.
    """
    names = [py.name(inside.names[symbol]) for symbol in mapped.symbols]
    types = [annotation(inside, _type(inside, symbol)) for symbol in mapped.symbols]
    beginning: list[Statement] = []
    parameter, taken = names[0].value, types[0]
    if len(names) > 1:
        parameter, taken = mapped.item, py.subscript(inside.global_("tuple"), *types)
        beginning.append(
            inside.note(
                py.line(py.assignment(py.bare(py.tuple_(names)), py.name(parameter))), node.span
            )
        )
    body = inside.called(inside.scope).deeper()
    around, inside.output.functions[:] = inside.output.functions[:], []
    value = py.bare(_emit_item(body.returned(), node))
    functions, inside.output.functions[:] = inside.output.functions[:], around
    [line] = spread_line(body, node.item, py.returned(value))
    made = py.function(
        name,
        py.parameters([(parameter, taken, None)]),
        annotation(inside, _type_of_item(inside, node)),
        py.block([*beginning, *functions, line]),
        is_async=inside.is_async,
    )
    inside.note(line, node.item.span)
    return inside.note(made, node.span)


def _overlap(context: Context, function: Expression, items: Expression, span: Span) -> cst.Call:
    overlap: Expression = context.global_("overlap")
    if context.is_async:
        overlap = py.attribute(overlap, "aio")
    return context.note(py.call(overlap, [function, items]), span)


# Loops


def emit_pipelined_loop(
    context: Context, statement: n.ForStmt, ahead: PipelinedLoop
) -> list[Statement]:
    """Emits the functions that run ahead for a loop, and the loop over their results."""
    if ahead.head is None:
        functions, items = [], loop_over(context, statement)
    else:
        functions = [_function_of_head(context, statement, ahead.head)]
        items = context.note(py.call(py.name(ahead.head.name)), statement.iterable.span)
    direct = _function_alone(context, statement, ahead)
    if direct is not None:
        # The function may be in another module, so the span of the call is recorded.
        made = _overlap(context, context.emit(direct.function), items, direct.span)
        return [*functions, _loop(context, statement, ahead, made, direct.span)]
    functions.append(_function(context, statement, ahead))
    made = _overlap(context, py.name(ahead.name), items, statement.span)
    return [*functions, _loop(context, statement, ahead, made, statement.span)]


def emit_loop_output(context: Context, ahead: PipelinedLoop, span: Span) -> Statement:
    """Emits the `return` of the function that runs ahead for a loop."""
    symbols = (*(one.symbol for one in ahead.gives), *ahead.grows)
    names = [py.name(context.names[symbol]) for symbol in symbols]
    value = None if not names else names[0] if len(names) == 1 else py.bare(py.tuple_(names))
    return context.note(py.line(py.returned(value)), span)


def _function_alone(context: Context, statement: n.ForStmt, ahead: PipelinedLoop) -> n.Call | None:
    """Returns the call of a function with the loop's item if nothing else runs ahead.

    No new function is needed, because the called function itself can run ahead. Returns None
    in all other cases.
    """
    first = statement.body[ahead.start]
    comments = context.comments.of(first)
    is_alone = ahead.cut == ahead.start + 1 and not ahead.grows
    if not is_alone or comments.leading or comments.inner or comments.beside:
        return None
    if ahead.cut == len(statement.body) and context.comments.footer(statement.body):
        return None
    match first:
        case n.AssignStmt(value=n.Call() as call):
            gives = (context.facts.names.of(first.name),)
        case n.ExpressionStmt(value=n.Call() as call):
            gives = ()
        case _:
            return None
    given = tuple(one.symbol for one in ahead.gives)
    items = _items_of(context, statement, ahead)
    if given != gives or len(items) != 1:
        return None
    called = call_of_item(context.facts, call, items[0])
    is_whole = called is not None and isinstance(called.arguments[0].value, n.Name)
    return called if is_whole else None


def _items_of(context: Context, statement: n.ForStmt, ahead: PipelinedLoop) -> list[Symbol]:
    """Returns the variables that hold an item. The list is empty if a pattern unpacks the item."""
    if ahead.head is not None:
        return [one.symbol for one in ahead.head.gives]
    if isinstance(statement.pattern, n.NamePattern):
        return [context.facts.names.of(statement.pattern.name)]
    return []


def _function_of_head(context: Context, statement: n.ForStmt, head: LoopPrefix) -> cst.FunctionDef:
    """Emits a generator for the head of a loop.

    It yields the values that the prompts of an item need.
    """
    body = replace(context.deeper().deeper(), frame=head, caught=())
    made, footer = emit_block(body, statement.body[: head.end])
    place = next(iter(bound_by(statement))).span
    values: list[Expression] = [py.name(context.names[one.symbol]) for one in head.gives]
    given = values[0] if len(values) == 1 else py.bare(py.tuple_(values))
    made.append(context.note(above(py.line(py.yielded(given)), footer), place))
    inside = context.called(context.scope)
    target = emit_pattern(inside, statement.pattern)
    loop = context.note(
        py.loop(target, loop_over(inside, statement), py.block(made)), statement.span
    )
    lines = [*_outer(context, statement, head), loop]
    returns = py.subscript(context.global_("Iterator"), _type_of_head(context, head))
    return context.note(
        py.function(head.name, py.parameters([]), returns, py.block(lines)), statement.span
    )


def _outer(context: Context, statement: n.ForStmt, head: LoopPrefix) -> Iterator[Statement]:
    """Yields `global` and `nonlocal` statements for outer variables that a loop's head assigns."""
    rebound = {
        context.facts.names.of(name)
        for one in all_statements(statement.body[: head.end])
        if one not in context.choices.growth
        for name in bound_by(one)
    }
    kept = [one for one in head.keeps if one in rebound]
    are_global = [context.choices.variables.is_global(one, context.frame) for one in kept]
    for word, is_global in ((cst.Global, True), (cst.Nonlocal, False)):
        own = [one for one, found in zip(kept, are_global, strict=True) if found == is_global]
        if own:
            yield context.note(
                py.line(word([cst.NameItem(py.name(context.names[one])) for one in own])),
                statement.span,
            )


def _function(context: Context, statement: n.ForStmt, ahead: PipelinedLoop) -> cst.FunctionDef:
    # The additions are collected in a separate list, with another name than the list itself.
    added = dict(zip(ahead.grows, ahead.added, strict=True))
    names = {**context.names, **added}
    inside = replace(context.deeper(), frame=statement, caught=(), names=names)
    if ahead.head is None:
        target = emit_pattern(context, statement.pattern)
        taken = annotation(context, item_type(context.type_of(statement.iterable)))
    else:
        given = [py.name(context.names[one.symbol]) for one in ahead.head.gives]
        target = given[0] if len(given) == 1 else py.tuple_(given)
        taken = _type_of_head(context, ahead.head)
    beginning: list[Statement] = []
    if isinstance(target, cst.Name):
        parameter = target.value
    else:
        parameter = ahead.item
        beginning.append(py.line(py.assignment(py.bare(target), py.name(parameter))))
    for symbol in ahead.grows:
        name, type_ = py.name(inside.names[symbol]), _type(context, symbol)
        if type_ in (INT, STRING):
            empty = py.assignment(name, _nothing(type_))
        else:
            empty = py.annotated(name, annotation(context, type_), _nothing(type_))
        beginning.append(py.line(empty))
    for line in beginning:
        context.note(line, statement.span)
    first = statement.body[ahead.start : ahead.cut]
    made, footer = emit_block(inside, first)
    if ahead.cut == len(statement.body):
        footer += footer_lines(context, context.comments.footer(statement.body))
    if ahead.gives or ahead.grows:
        place = next(iter(bound_by(statement))).span
        made.append(above(emit_loop_output(inside, ahead, place), footer))
        footer = []
    return context.note(
        py.function(
            ahead.name,
            py.parameters([(parameter, taken, None)]),
            _returns(context, ahead),
            py.block([*beginning, *made], footer=footer),
            is_async=context.is_async,
        ),
        statement.span,
    )


def _returns(context: Context, ahead: PipelinedLoop) -> Expression:
    types = [_type_given(context, one) for one in ahead.gives]
    types += [annotation(context, _type(context, symbol)) for symbol in ahead.grows]
    return _together(context, types) if types else py.constant(None)


def _type_of_head(context: Context, head: LoopPrefix) -> Expression:
    types = [_type_given(context, one) for one in head.gives]
    return _together(context, types)


def _type_given(context: Context, given: LoopOutput) -> Expression:
    made = annotation(context, given.type)
    return py.subscript(context.global_("Result"), made) if given.is_result else made


def _together(context: Context, types: Sequence[Expression]) -> Expression:
    """The annotation for values of these types: the type of a single value, or a tuple."""
    return types[0] if len(types) == 1 else py.subscript(context.global_("tuple"), *types)


def _type(context: Context, symbol: Symbol) -> Type:
    return context.facts.symbols.get(symbol, ANY)


def _loop(
    context: Context, statement: n.ForStmt, ahead: PipelinedLoop, made: Expression, place: Span
) -> Statement:
    """Emits the loop over the results of the `overlap` call `made`.

    `place` is the span of the script to which failures in the call are attributed.
    """
    rest = statement.body[ahead.cut :]
    head = context.comments.of(statement).head
    targets: list[Expression] = [py.name(context.names[one.symbol]) for one in ahead.gives]
    targets += map(py.name, ahead.added)
    if not targets and rest:
        targets = [py.name(ahead.nothing)]
    if not targets:
        run = context.note(
            py.awaited(made) if context.is_async else py.call(py.attribute(made, "run")), place
        )
        return context.note(with_beside(py.line(cst.Expr(run)), head), statement.span)
    body: list[Statement] = []
    for symbol, added in zip(ahead.grows, ahead.added, strict=True):
        given: Expression = py.name(added)
        if symbol in ahead.counts:
            given = _counted(py.name(context.names[symbol]), given)
        body.append(
            context.note(py.line(_growth(context, statement, symbol, given)), statement.span)
        )
    lines: list[cst.EmptyLine] = []
    if rest:
        below, lines = emit_block(context.deeper(), rest)
        body += below
        lines += footer_lines(context, context.comments.footer(statement.body))
    if not body:
        body.append(py.line(cst.Pass()))
    target = targets[0] if len(targets) == 1 else py.bare(py.tuple_(targets))
    inside = py.block(body, beside(head), lines)
    return context.note(py.loop(target, made, inside, is_async=context.is_async), place)


def _growth(
    context: Context, loop: n.ForStmt, symbol: Symbol, added: Expression
) -> cst.Expr | cst.Assign | cst.AugAssign:
    """Emits `found = found + new_found`, which adds the results of a function that ran ahead.

    If the loop itself changes the list or object in place, so does the emitted statement.
    """
    own = py.name(context.names[symbol])
    is_map = isinstance(_type(context, symbol), MapType)
    if _type(context, symbol) in (INT, STRING):
        return py.augmented(own, "+", added)
    adding = [
        one
        for one in all_statements(loop.body)
        if any(context.facts.names.of(name) is symbol for name in bound_by(one))
    ]
    if all(one in context.choices.growth for one in adding):
        return cst.Expr(py.call(py.attribute(own, "update" if is_map else "extend"), [added]))
    value = py.dict_([(None, own), (None, added)]) if is_map else py.binary(own, "+", added)
    return py.assignment(own, value)


def _counted(own: cst.Name, added: Expression) -> Expression:
    """Emits the sums of the counts in `own` and the counts in `added`.

    `{key: counts.get(key, 0) + count for key, count in new_counts.items()}`
    """
    key, count = (py.name(f"{one}_" if own.value == one else one) for one in ("key", "count"))
    before = py.call(py.attribute(own, "get"), [key, py.constant(0)])
    items = py.call(py.attribute(added, "items"), [])
    value = py.binary(before, "+", count)
    return py.dict_comprehension(key, value, [(py.tuple_([key, count]), items, [])])


def _nothing(type_: Type) -> Expression:
    """The empty value with which additions to a variable begin: `[]`, `{}`, `0` or `""`."""
    match type_:
        case MapType():
            return py.dict_([])
        case _ if type_ == INT:
            return py.constant(0)
        case _ if type_ == STRING:
            return py.constant("")
        case _:
            return py.list_([])


# Groups


def emit_together(context: Context, group: Sequence[n.Statement]) -> list[Statement]:
    """Emits statements whose prompts run concurrently.

    `a, b = together(later(...), later(...))`
    """
    targets: list[Expression] = []
    asked: list[Expression] = []
    made: list[Statement] = []
    comments: list[Comment] = []
    for statement in group:
        match statement:
            case n.AssignStmt(name=name, value=value):
                context.output.classes.name_schema(statement.schema, name.text)
                target = py.name(context.name_of(name))
                found = context.choices.variables.beside(statement, context.frame)
                if found is not None:
                    type_ = variable_annotation(context, found)
                    made.append(py.line(py.annotated(target, type_)))
                targets.append(target)
                is_prompt = isinstance(value, n.Prompt)
                call = emit_result(context, value) if is_prompt else context.emit(value)
            case n.DestructureStmt(fields=fields, value=n.Prompt() as value):
                for field in fields:
                    context.output.classes.name_schema(field.schema, field.name.text)
                names = [py.name(context.name_of(field.name)) for field in fields]
                targets.append(py.tuple_(names))
                call = emit_destructured(context, value, fields)
            case _:
                raise AssertionError
        asked.append(_later(context, call, value))
        own = context.comments.of(statement)
        leading = own.leading if statement is not group[0] else ()
        comments += [*leading, *own.inner, *([own.beside] if own.beside is not None else [])]
    function: Expression = context.global_("together")
    if context.is_async:
        function = py.attribute(function, "aio")
    together = py.call(function, asked)
    if comments:
        places = [statement.span for statement in group]
        together = with_comments(together, places, comments, context.source)
    else:
        together = py.spread(together)
    context.note(together, group[0].span)
    value = py.awaited(together) if context.is_async else together
    return [*made, py.line(py.assignment(py.bare(py.tuple_(targets)), value))]


def _later(context: Context, call: Expression, node: n.Expression) -> Expression:
    """Changes the call `prompt(...)` to `later(prompt, ...)`."""
    while isinstance(call, cst.Attribute | cst.Await):
        # The call may be inside `.value` or `await`.
        call = call.value if isinstance(call, cst.Attribute) else call.expression
    assert isinstance(call, cst.Call)
    *others, last = [cst.Arg(call.func), *call.args]
    arguments = [*others, last.with_changes(comma=cst.MaybeSentinel.DEFAULT)]
    made = call.with_changes(func=context.global_("later"), args=arguments)
    has_lines = isinstance(node, n.Prompt) and "\n" in template_of(node, {})
    width = 4 * (context.depth + 1) + len(code_of(made)) + len(",")
    if has_lines or width > WIDTH:
        made = py.spread(made)
    return context.note(made, node.span)
