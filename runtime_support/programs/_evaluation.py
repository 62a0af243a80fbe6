"""Evaluates a program and returns its outcome.

    evaluate({"add": {"a": 1, "b": 2}}, registry)    Success(3, ...)
    coerce("4.5", float)                              4.5: one value, without a program
    coerce(book, str, [author_of, name_of])           "Austen"

As in an applicative lambda calculus, arguments are evaluated before their call. A `$let` evaluates
each binding once, after the bindings that it needs. An `$if` evaluates one branch. Independent pure
parts run in parallel; a part with side effects runs after everything before it has succeeded. So
the value, the order of effects and the reported problems never depend on timing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from runtime_support._values.ambiguity import Ambiguity
from runtime_support._values.kinds import is_object
from runtime_support.programs import _tree as n
from runtime_support.programs import _types
from runtime_support.programs._checking import check_program
from runtime_support.programs._choices import innermost
from runtime_support.programs._coercion import ArgumentPlace, Coercer
from runtime_support.programs._machine import (
    AmbiguousPlace,
    Fault,
    Frame,
    Machine,
    OnCall,
    Problem,
    Stopped,
    TimeUp,
    is_larger,
    run_now,
    run_within,
)
from runtime_support.programs._outcomes import (
    Ambiguous,
    Call,
    Diagnostic,
    Outcome,
    ProgramFailure,
    ProgramFailureKind,
    Success,
    invalid,
)
from runtime_support.programs._registry import Function, Registry, classes_of
from runtime_support.programs._syntax import Limits, NotJson, TooLarge, at, pointer, read_program

if TYPE_CHECKING:
    from asyncio import Task

    from runtime_support._core.hooks import RequestedCall

Part = tuple[n.Checked, Frame]


class Evaluator:
    """Evaluates one checked program, with a Machine that makes its calls."""

    def __init__(self, checked: n.CheckedProgram, machine: Machine) -> None:
        self._program = checked.program
        self._registry = checked.registry
        self._machine = machine
        self._coercer = Coercer(checked.registry, machine)

    async def value(self, node: n.Checked, frame: Frame) -> Any:
        """Returns the value of the node. Raises Stopped if a part of it fails or is ambiguous."""
        match node:
            case n.ConstantNode():
                return node.value
            case n.RefNode():
                return frame.names[node.name]
            case n.ListNode():
                return await self._together(_parts(node.items, frame))
            case n.RecordNode():
                return await self._named(node.fields, frame)
            case n.CallNode():
                return await self._call(node, frame)
            case n.LetNode():
                return await self._let(node, frame)
            case n.MapNode():
                return await self._map(node, frame)
            case n.IfNode():
                test = await self.value(node.test, frame.at(0))
                return await self.value(node.then if test else node.otherwise, frame.at(1))
            case n.CoerceNode():
                return await self._coerce(node, frame)

    async def _call(self, node: n.CallNode, frame: Frame) -> Any:
        arguments = await self._named(node.arguments, frame)
        here = frame.at(len(arguments))
        try:
            return await self._machine.call(node.definition, arguments, node.path, here)
        except Ambiguity as ambiguity:
            body = at(self._program, node.path)
            if node.form == "record":
                body = body["$object"] if is_object(body.get("$object")) else body
            else:
                body = body[node.definition.name]
            if node.form == "bare":
                body = {node.arguments[0][0]: body}
            place = self._place(node, here)
            raise self._coercer.undecided(ambiguity, node.definition, lambda: body, place) from None

    async def _coerce(self, node: n.CoerceNode, frame: Frame) -> Any:
        value = await self.value(node.operand, frame.at(0))
        return await self._coercer.coerce(value, node.type, self._place(node, frame.at(1)))

    def _place(self, node: n.CallNode | n.CoerceNode, frame: Frame) -> ArgumentPlace:
        site = (node.path, node.bare if isinstance(node, n.CoerceNode) else None)
        return ArgumentPlace(self._program, site, frame, lambda: at(self._program, node.path))

    async def _let(self, node: n.LetNode, frame: Frame) -> Any:
        ready: list[tuple[int, str, n.Checked]] = []
        for index, ((name, bound), needs) in enumerate(zip(node.bindings, node.needs, strict=True)):
            if any(other in needs for _, other, _ in ready):
                frame = await self._bind(ready, frame)
                ready = []
            ready.append((index, name, bound))
        frame = await self._bind(ready, frame)
        return await self.value(node.body, frame.at(len(node.bindings)))

    async def _bind(self, ready: list[tuple[int, str, n.Checked]], frame: Frame) -> Frame:
        values = await self._together([(bound, frame.at(index)) for index, _, bound in ready])
        return frame.bound(dict(zip((name for _, name, _ in ready), values, strict=True)))

    async def _map(self, node: n.MapNode, frame: Frame) -> list[Any]:
        items = tuple(await self.value(node.over, frame.at(0)))
        self._machine.walk(len(items), node.path, frame)
        inside = replace(frame.at(1), in_words=True)
        elements = [
            inside.at(index).bound({node.variable: item}) for index, item in enumerate(items)
        ]
        if not node.pure:
            return await self._one_by_one(node, elements)
        if node.where is not None:
            tests = await self._together([(node.where, one.at(0)) for one in elements])
            elements = [one for one, test in zip(elements, tests, strict=True) if test]
        return await self._together([(node.body, one.at(1)) for one in elements])

    async def _one_by_one(self, node: n.MapNode, elements: list[Frame]) -> list[Any]:
        results: list[Any] = []
        for one in elements:
            if node.where is None or await self.value(node.where, one.at(0)):
                results.append(await self.value(node.body, one.at(1)))
        return results

    async def _named(
        self, parts: tuple[tuple[str, n.Checked], ...], frame: Frame
    ) -> dict[str, Any]:
        values = await self._together(_parts([node for _, node in parts], frame))
        return dict(zip((name for name, _ in parts), values, strict=True))

    async def _together(self, parts: list[Part]) -> list[Any]:
        """Returns the values of independent parts. Raises Stopped with the problems of all parts.

        After a part has failed, later parts make no more calls.
        """
        active = [index for index, (node, _) in enumerate(parts) if node.pure and node.calls]
        tasks: dict[int, Task[Any]] = {}
        if len(active) > 1 and self._machine.most > 1:
            from asyncio import create_task

            parts = [(node, replace(frame, beside=True)) for node, frame in parts]
            tasks = {index: create_task(self._part(*parts[index])) for index in active}
        values: list[Any] = []
        problems: list[Problem] = []
        try:
            for index, (node, frame) in enumerate(parts):
                try:
                    task = tasks.get(index)
                    values.append(await (self._part(node, frame) if task is None else task))
                except Stopped as stopped:
                    problems += stopped.problems
        finally:
            for task in tasks.values():
                task.cancel()
        if len(values) < len(parts):
            raise Stopped(*problems)
        return values

    async def _part(self, node: n.Checked, frame: Frame) -> Any:
        try:
            return await self.value(node, frame)
        except Stopped as stopped:
            self._machine.note_problems(stopped)
            raise


def _parts(nodes: Sequence[n.Checked], frame: Frame) -> list[Part]:
    return [(node, frame.at(index)) for index, node in enumerate(nodes)]


DEFAULT_LIMITS = Limits()


def evaluate(
    program: Any,
    registry: Registry,
    *,
    returns: Any = Any,
    limits: Limits = DEFAULT_LIMITS,
    on_call: OnCall | None = None,
    earlier: Sequence[Call] = (),
) -> Outcome:
    """Checks the whole program and then runs it.

    `program` is either a ProgramText, which holds the JSON text of a program, or parsed JSON. A
    plain string counts as parsed JSON: as a value, not as the text of a program. `returns` is the
    Python type of the value. `on_call(name, arguments)` is called before each call; the call is
    denied if `on_call` returns something false or raises an exception. `earlier` are the calls that
    earlier programs made for the same request. If the program repeats such a call of a function or
    conversion, the earlier result is used. `limits.calls` limits the calls of all these programs
    together.
    """
    checked = check(program, registry, returns=returns, limits=limits)
    if not isinstance(checked, n.CheckedProgram):
        return checked
    return run(checked, limits=limits, on_call=on_call, earlier=earlier)


def check(
    program: Any, registry: Registry, *, returns: Any = Any, limits: Limits = DEFAULT_LIMITS
) -> n.CheckedProgram | ProgramFailure | Ambiguous:
    """Checks a program without making calls.

    Returns the checked program, or the reasons why it cannot run.
    """
    try:
        data, diagnostics = read_program(program, limits)
        return check_program(data, registry, registry.returned_type(returns), diagnostics)
    except TooLarge as error:
        return _failure("limit", str(error))
    except NotJson as error:
        return invalid([Diagnostic(str(error), pointer(error.path))])
    except RecursionError:
        return _failure("limit", "the program is nested deeper than Python can follow")


def run(
    checked: n.CheckedProgram,
    *,
    limits: Limits = DEFAULT_LIMITS,
    on_call: OnCall | None = None,
    earlier: Sequence[Call] = (),
    call: RequestedCall | None = None,
    names: Mapping[str, Any] = MappingProxyType({}),
) -> Outcome:
    """Runs a checked program.

    `names` maps the program's free variables to their values. `call` is the call by which a prompt
    or a script runs the program. A program that calls functions which need approval must be
    approved as a whole.
    """
    machine = Machine(limits, checked.registry, on_call, earlier, call)
    evaluator = Evaluator(checked, machine)
    start = Frame(names)
    try:
        if checked.root.calls:
            value = run_within(limits.seconds, lambda: evaluator.value(checked.root, start))
        else:
            value = run_now(evaluator.value(checked.root, start))
    except TimeUp:
        message = f"the program timed out: it took longer than {limits.seconds:g} s"
        return _failure("timeout", message, machine.calls)
    except Stopped as stopped:
        if machine.abort is not None:
            raise machine.abort from None
        return _stopped(stopped.problems, machine)
    except RecursionError:
        message = "the program is nested deeper than Python can follow"
        return _failure("limit", message, machine.calls)
    finally:
        machine.stopped = True
    if is_larger(value, limits.bytes):
        message = f"the result has more than {limits.bytes} bytes"
        return _failure("limit", message, machine.calls)
    return Success(value, checked.program, machine.calls)


def _stopped(
    problems: Sequence[Problem], machine: Machine
) -> ProgramFailure | Ambiguous:
    """Returns the outcome for these problems: a failure, or an ambiguity if nothing failed.

    A failure has the kind and the message of the first problem in source order.
    """
    ordered = sorted(problems, key=lambda one: one.position)
    failed = [one for one in ordered if isinstance(one, Fault)]
    if failed:
        found = dict.fromkeys(Diagnostic(one.message, pointer(one.path)) for one in failed)
        message, path = failed[0].message, pointer(failed[0].path)
        return ProgramFailure(failed[0].kind, message, path, tuple(found), machine.calls)
    places = [(one.path, one.point) for one in ordered if isinstance(one, AmbiguousPlace)]
    different = [one for index, one in enumerate(places) if one not in places[:index]]
    return Ambiguous(innermost(different), machine.calls)


def _failure(
    kind: ProgramFailureKind, message: str, calls: tuple[Call, ...] = ()
) -> ProgramFailure:
    return ProgramFailure(kind, message, "", (Diagnostic(message, ""),), calls)


T = TypeVar("T")


class CoercionError(ValueError):
    """The value cannot be coerced to the wanted type, or can be coerced in several ways."""


@overload
def coerce(value: Any, wanted: type[T], conversions: Iterable[Function] = ()) -> T: ...


@overload
def coerce(value: Any, wanted: Any, conversions: Iterable[Function] = ()) -> Any: ...


def coerce(value: Any, wanted: Any, conversions: Iterable[Function] = ()) -> Any:
    """Returns the value as a value of the type `wanted`.

    A value that fits is unchanged. Any other value is converted by the conversions or by a built-in
    rule. Raises CoercionError if the value cannot be converted or can be converted in several ways,
    or if a conversion fails. Errors that end the run propagate: Ctrl-C, a spent budget, a call that
    waits for approval.
    """
    conversions = list(conversions)
    registry = Registry(types=classes_of(conversions, wanted), conversions=conversions)
    target = registry.read_type(wanted)
    if _types.conforms(value, target):
        return _types.conform(value, target)
    # A program with the value as its only variable.
    given = n.RefNode((), _types.ANY, "value")
    root = n.CoerceNode((), target, given, registry.conversions)
    unbounded = Limits(bytes=sys.maxsize)
    checked = n.CheckedProgram(None, root, registry)
    outcome = run(checked, limits=unbounded, names={"value": value})
    if isinstance(outcome, Success):
        return outcome.value
    raise CoercionError(outcome.message)
