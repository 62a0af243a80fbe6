"""Running a script both ways, compiled and interpreted, and saying where the two differ.

    compare(text, replies)      Outcome("agrees"), or a Disagreement that says what differs

A script that the compiler refuses is compared with what the interpreter did: the refusal is right
unless the refused expression was evaluated and nothing failed.
"""

import ast
import contextlib
import io
import linecache
import warnings
from collections import Counter
from dataclasses import dataclass, fields, is_dataclass
from decimal import DivisionUndefined, InvalidOperation
from typing import Any

import black

from runtime_support import Decision, PendingCall, configure
from runtime_support._values.json_text import to_json
from runtime_support.errors import Failed, ProgramError, PromptError
from runtime_support.ops import Failure
from saftc.codegen.positions import locate
from saftc.driver import Checked, Compiled, compile_checked, compile_source
from saftc.overlap.settings import DEFAULT, Overlapping
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from tests.oracle import dates
from tests.oracle.interpreter import Run, TooLong, run
from tests.oracle.model import FAILED, PROGRAM, Asked, ModelOf, Script, decide
from tests.oracle.values import Callable_, Fault, Record, Value, lines_of

_FILE = "oracle.py"
_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (Failed, "fail"),
    (PromptError, "prompt"),
    (ProgramError, "program"),
    (ZeroDivisionError, "zero"),
    (AssertionError, "assert"),
    (NameError, "name"),
    (LookupError, "missing"),
    (TypeError, "value"),
    (ValueError, "value"),
    (ArithmeticError, "value"),
)


class Disagreement(AssertionError):
    """The compiled module and the interpreter do not do the same."""


_IN_ORDER = Overlapping(is_on=False)
_ASYNC = Overlapping(is_on=False, is_async=True)

# What the language allows and the compiler refuses, because Python cannot say it: a name that an
# inner function would see as the call's own or as the outer one, depending on the path taken.
_LIMITS = {"SAFT0213"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a comparison went: `agrees`, `refused` (rightly), or `skipped` with the reason."""

    word: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Execution:
    output: tuple[str, ...]
    names: dict[str, Any]
    error: Exception | None
    asked: tuple[Asked, ...]
    # The calls that were asked about, with their arguments as JSON.
    decisions: tuple[tuple[str, str], ...]


def compare(text: str, replies: Script | None = None) -> Outcome:
    """Compares the two runs of a script; Disagreement when they differ."""
    script = replies or {}
    source = Source.from_text("oracle.saft", text)
    try:
        compiled = compile_source(source, overlapping=_IN_ORDER)
    except NotImplementedError as error:
        return Outcome("skipped", f"not implemented: {error}")
    checked = compiled.checked
    if any(one.code < "SAFT02" or one.code in _LIMITS for one in checked.diagnostics):
        return Outcome("skipped", f"syntax: {checked.diagnostics[0].message}")
    try:
        expected = run(checked.module, script)
    except TooLong:
        return Outcome("skipped", "too long")
    except NotImplementedError as error:
        return Outcome("skipped", f"not interpreted: {error}")
    if compiled.text is None:
        _judge_refusal(checked, expected)
        return Outcome("refused")
    actual = _judge_module(source, compiled, _IN_ORDER, expected, script)
    forms: list[tuple[Overlapping, str | None]] = [(_IN_ORDER, compiled.text)]
    if not any(fault.is_order_open for fault in _faults(expected)):
        _judge_names(expected, actual)
    overlapped = compile_checked(checked)
    if overlapped.text != compiled.text:
        # What nothing reads behind a loop, it need not leave.
        _judge_module(source, overlapped, DEFAULT, expected, script)
        forms.append((DEFAULT, overlapped.text))
    awaited = compile_checked(checked, _ASYNC)
    if awaited.text not in (None, compiled.text):
        # What `main` alone uses is its own.
        _judge_module(source, awaited, _ASYNC, expected, script)
        forms.append((_ASYNC, awaited.text))
    # Of one form, by turns: it takes longer than all the rest.
    _judge_text(source, *forms[len(text) % len(forms)])
    return Outcome("agrees", "" if expected.fault is None else expected.fault.kind)


# A refused script


def _judge_refusal(checked: Checked, expected: Run) -> None:
    is_tool_failed = any(FAILED in asked.since for asked in expected.asked)
    if expected.fault is not None or expected.caught or is_tool_failed:
        return
    for diagnostic in checked.diagnostics:
        if diagnostic.severity == "error":
            place = _refused(checked.module, diagnostic.span)
            if place in expected.evaluated and not _is_unused_default(
                checked.module, diagnostic.span, expected
            ):
                raise Disagreement(
                    f"refused, but it runs: {diagnostic.code} {diagnostic.message} "
                    f"at line {checked.source.line_of(diagnostic.span.start)}"
                )


def _refused(module: n.Module, span: Span) -> Span:
    """The place of the innermost expression that holds `span`."""
    holding = [
        node.span
        for node in walk(module)
        if isinstance(node, n.Expression)
        and node.span.start <= span.start
        and span.end <= node.span.end
    ]
    return min(holding, key=lambda one: one.end - one.start, default=span)


def _is_unused_default(module: n.Module, span: Span, expected: Run) -> bool:
    """Whether a default stands there of a function that nobody has called.

    It is evaluated where the function is defined, and wrong where the function uses it.
    """
    return any(
        not any(inner.span in expected.evaluated for one in node.body for inner in walk(one))
        for node in walk(module)
        if isinstance(node, n.FunctionDef)
        for parameter in node.parameters
        if parameter.default is not None
        and parameter.default.span.start <= span.start
        and span.end <= parameter.default.span.end
    )


# The text of the module


def _judge_module(
    source: Source, compiled: Compiled, overlapping: Overlapping, expected: Run, script: Script
) -> _Execution:
    """Judges all but the names that a module has, and how its text is laid out."""
    assert compiled.text is not None
    _check_syntax(compiled.text)
    actual = _execute(compiled.text, script, is_async=overlapping.is_async)
    _judge_run(expected, actual)
    _judge_requests(expected, actual, overlaps=overlapping.is_on)
    _judge_line(source, compiled, expected, actual)
    return actual


def _check_syntax(text: str) -> None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise Disagreement(f"not Python: {error}") from None


def _judge_text(source: Source, overlapping: Overlapping, text: str | None) -> None:
    assert text is not None
    if compile_source(source, overlapping=overlapping).text != text:
        raise Disagreement("compiling twice gives two texts")
    if black.format_str(text, mode=black.Mode()) != text:
        raise Disagreement("black changes the module")


def _execute(text: str, script: Script, *, is_async: bool) -> _Execution:
    model = ModelOf(script)
    decisions: list[tuple[str, str]] = []

    def approver(call: PendingCall) -> bool | Decision:
        decisions.append((call.tool, to_json(dict(call.args))))
        decided = decide(call.tool, call.args)
        if decided.arguments is None:
            return Decision.no("by the script")
        return Decision.changed(decided.arguments) if decided.is_changed else True

    async def approver_async(call: PendingCall) -> bool | Decision:
        return approver(call)

    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    error = None
    # What is caught is told apart by the text of the module.
    linecache.cache[_FILE] = (len(text), None, text.splitlines(keepends=True), _FILE)
    configure(provider=model, approver=approver_async if is_async else approver)
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(text, _FILE, "exec"), namespace)
    except Exception as failure:
        error = failure
    finally:
        configure(provider=None, approver=None)
    output = lines_of(printed.getvalue())
    return _Execution(output, namespace, error, tuple(model.asked), tuple(decisions))


# The two runs


def _judge_run(expected: Run, actual: _Execution) -> None:
    if any(fault.is_order_open for fault in expected.caught):
        return
    expected_kind = expected.fault.kind if expected.fault is not None else None
    actual_kind = None if actual.error is None else _kind(actual.error)
    if (expected_kind is None) != (actual_kind is None):
        raise Disagreement(_errors(expected, actual))
    if expected.fault is not None and expected.fault.is_order_open:
        return
    if expected_kind != actual_kind:
        raise Disagreement(_errors(expected, actual))
    if expected.output != actual.output:
        raise Disagreement(f"output: expected {expected.output}, got {actual.output}")


def _judge_requests(expected: Run, actual: _Execution, *, overlaps: bool) -> None:
    if any(fault.is_order_open for fault in _faults(expected)):
        return
    is_same = expected.asked == actual.asked
    # Calls of a program that ask, and do nothing else, run together.
    if overlaps or any(one.form == PROGRAM for one in expected.asked):
        # In any order; when something fails, what stands behind it may have been asked already.
        wanted, found = Counter(map(repr, expected.asked)), Counter(map(repr, actual.asked))
        is_same = wanted <= found if _faults(expected) else wanted == found
    if not is_same:
        raise Disagreement(f"requests: expected {expected.asked}, got {actual.asked}")
    # People are asked in the order of the script, whatever runs ahead.
    if expected.decisions != actual.decisions:
        raise Disagreement(f"decisions: expected {expected.decisions}, got {actual.decisions}")


def _faults(expected: Run) -> list[Fault]:
    return [*expected.caught, *([] if expected.fault is None else [expected.fault])]


def _judge_line(source: Source, compiled: Compiled, expected: Run, actual: _Execution) -> None:
    is_open = any(fault.is_order_open for fault in _faults(expected))
    if expected.fault is None or actual.error is None or is_open:
        return
    assert compiled.module is not None and compiled.text is not None
    stretch = _failing_stretch(actual.error)
    span = locate(compiled.module.origins.map(compiled.text), *stretch)
    found = None if span is None else source.line_of(span.start)
    wanted = source.line_of(expected.fault.span.start)
    if found != wanted:
        raise Disagreement(f"line of the error: expected {wanted}, got {found}: {actual.error!r}")


def _failing_stretch(error: Exception) -> tuple[int, int | None, int, int | None]:
    """The stretch of the module that the innermost frame in it was running.

    A broken rule is an error of the call that made the record.
    """
    trace = error.__traceback__
    found = None
    while trace is not None:
        below = trace.tb_next
        is_rule = below is not None and below.tb_frame.f_code.co_name == "require"
        if trace.tb_frame.f_code.co_filename == _FILE and not is_rule:
            found = trace
        trace = below
    assert found is not None
    positions = list(found.tb_frame.f_code.co_positions())
    line, end_line, column, end_column = positions[found.tb_lasti // 2]
    return line or found.tb_lineno, column, end_line or found.tb_lineno, end_column


def _errors(expected: Run, actual: _Execution) -> str:
    return f"error: expected {expected.fault!r}, got {actual.error!r}"


def _kind(error: Exception) -> str:
    if isinstance(error, InvalidOperation) and DivisionUndefined in error.args[0]:
        return "zero"
    for class_, kind in _KINDS:
        if isinstance(error, class_):
            is_unforeseen = type(error) is TypeError and "offset-naive" not in str(error)
            return "a TypeError of Python" if is_unforeseen else kind
    return type(error).__name__


def _judge_names(expected: Run, actual: _Execution) -> None:
    for name, value in expected.names.items():
        if name.startswith("data_"):
            continue  # messages: the interpreter knows no ids, and no words of failures
        found = _python_name(name, expected.names, actual.names)
        if found is None:
            raise Disagreement(f"`{name}` is not in the module")
        if not same(value, actual.names[found]):
            raise Disagreement(f"`{name}`: expected {value!r}, got {actual.names[found]!r}")


def _python_name(name: str, script: dict[str, Value], module: dict[str, Any]) -> str | None:
    """The name in the module: the script's, with an underscore where Python forces it.

    What was caught under the same name has another one there.
    """
    module = {key: value for key, value in module.items() if not isinstance(value, Failure)}
    for candidate in (name + "__", name + "_", name):
        if candidate in module and (candidate == name or candidate not in script):
            return candidate
    return None


def same(value: Value, found: Any) -> bool:
    """Whether a Python value is what the interpreter's stands for, order of fields included."""
    found = getattr(found, "value", found) if hasattr(type(found), "__saft_result__") else found
    if isinstance(value, Callable_):
        return callable(found)
    if isinstance(value, Record):
        if not is_dataclass(found) or type(found).__name__ != value.definition.name.text:
            return False
        return same(value.fields, {one.name: getattr(found, one.name) for one in fields(found)})
    if type(value) is not type(found):
        return False
    if dates.is_date(value):
        return dates.written(value) == dates.written(found)
    if isinstance(value, list | tuple):
        return len(value) == len(found) and all(map(same, value, found))
    if isinstance(value, dict):
        pairs = zip(value.items(), found.items(), strict=False)
        return len(value) == len(found) and all(k == j and same(v, w) for (k, v), (j, w) in pairs)
    return value == found or (value != value and found != found)
