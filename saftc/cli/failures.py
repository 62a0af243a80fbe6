"""Reports an uncaught error of a script, with positions in scripts instead of compiled Python.

The report has the error's message, then the script's line with a caret, then the calls that led to
that line, including calls in the user's own Python modules.
"""

import ast
import itertools
import json
import linecache
import os
import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType

from runtime_support._core.positions.uncaught import is_broken_rule, is_tool_of_server
from runtime_support._language.failures import error_words
from runtime_support._language.operators import out_of_range
from runtime_support.errors import Failed
from saftc.cli.asserts import compared, evaluated_again
from saftc.diagnostics.render import draw_place
from saftc.diagnostics.styled import Piece
from saftc.running import Running, Stretch, is_of_library, is_of_saftc
from saftc.source import Source, Span

# The most callers that are shown; of more (usually a recursion), the outermost are counted only.
_MOST_CALLERS = 8


def explain(
    error: BaseException, scripts: Mapping[str, Running], width: int | None = None
) -> list[Piece]:
    """The report of `error`, for a terminal `width` columns wide.

    `scripts` maps the file name of each script's compiled code to the script.
    """
    steps = _calls(list(_steps(error.__traceback__, scripts)))
    passed = [step for step in steps if isinstance(step, _InScript) and not step.is_rule]
    if isinstance(error, ModuleNotFoundError) and error.name == "polars":
        return _headed("dataframes need the package polars; pip install polars")
    words = _python_words(error)
    if is_of_saft(error, scripts):
        words = _words(error, passed[-1] if passed else None)
    pieces = _headed(words)
    for note in getattr(error, "__notes__", ()):
        if not note.startswith("at "):
            pieces.append(Piece(f"  {note}\n"))
    if not passed:
        return [*pieces, *map(Piece, traceback.format_exception(error))]
    frame, script, span = passed[-1].frame, passed[-1].script, passed[-1].span
    note = ""
    if isinstance(error, AssertionError):
        note = compared(frame, script.text)
        span = _whole_assert(script, span)
    pieces += draw_place(script.source, _first_line(script.source, span), note, width)
    callers = [step for step in steps if step is not passed[-1]]
    pieces += [Piece(f"  {caller}\n") for caller in reversed(callers[-_MOST_CALLERS:])]
    if len(callers) > _MOST_CALLERS:
        pieces.append(Piece(f"  ... and {len(callers) - _MOST_CALLERS} calls before\n"))
    return pieces


def _headed(words: str) -> list[Piece]:
    return [Piece("error", "error"), Piece(f": {words}", "title"), Piece("\n")]


def _calls(steps: "list[_InScript | _InPython]") -> "list[_InScript | _InPython]":
    """The steps of a traceback that are calls in the user's own code.

    Frames of functions that the compiler made to run part of a loop ahead, or to overlap calls, are
    left out. To the user, such a function is part of the code around it.
    """
    inner = itertools.chain(steps[1:], [None])
    return [step for step, below in zip(steps, inner, strict=False) if not _holds(step, below)]


def _holds(step: "_InScript | _InPython", below: "_InScript | _InPython | None") -> bool:
    if below is not None and step.frame is below.frame:
        return True  # two steps of one frame: `below` is the overlapping call that failed
    match step, below:
        case _InScript(span=outer), _InScript(span=inner):
            is_within = outer.start <= inner.start and inner.end <= outer.end
            return is_within and below.frame.f_code in step.frame.f_code.co_consts
        case _:
            return False


def _whole_assert(script: Running, span: Span) -> Span:
    """The assert statement that contains `span`, or `span` itself if there is none."""
    for place in script.places:
        statement = place.span
        holds = statement.start <= span.start and statement.end >= span.end
        if (
            place.is_statement
            and holds
            and script.source.text.startswith("assert", statement.start)
        ):
            return statement
    return span


def _words(error: BaseException, step: "_InScript | None") -> str:
    """The message of an error raised at `step`. Python's own messages are reworded for scripts."""
    match error:
        case AssertionError():
            return f"assertion failed: {error}" if str(error) else "assertion failed"
        case KeyError() if type(error) is KeyError:
            return error_words(error)
        case ValueError() if type(error) is ValueError and str(error):
            # A message of Python: a text that is no number, or a list of another length to unpack.
            return _translate_message(str(error))
        case IndexError() if type(error) is IndexError:
            kind = str(error).partition(" ")[0]
            kind = kind if kind in ("string", "tuple") else "list"
            return (step and _index_words(step)) or f"the {kind} has no item there"
        case ZeroDivisionError() if type(error) is ZeroDivisionError:
            return "division by zero"
        case RecursionError() | Failed():
            return error_words(error)
        case _:
            return _python_words(error)


def _index_words(step: "_InScript") -> str | None:
    """The message for an index out of range: `index 5 is out of range: the list has 2 items`.

    The result is None if the list or the index cannot be evaluated again.
    """
    for node in ast.walk(ast.parse(step.script.text)):
        if not isinstance(node, ast.Subscript) or _place(node) != step.stretch:
            continue
        parts = (node.value, node.slice)
        values = [value for part in parts for value in evaluated_again(part, step.frame)]
        if len(values) == 2:
            return out_of_range(*values)
    return None


def _translate_message(words: str) -> str:
    """Translates Python's messages of int(), float(), min() and max() into terms of scripts."""
    for pattern, word in _NOT_NUMBERS:
        found = pattern.fullmatch(words)
        if found is not None:
            return f"{json.dumps(ast.literal_eval(found[1]), ensure_ascii=False)} is not {word}"
    empty = _EMPTY.fullmatch(words)
    if empty is not None:
        return f"the list has no item: `{empty[1]}` needs one"
    return words


_NOT_NUMBERS = (
    (re.compile(r"invalid literal for int\(\) with base 10: (.*)", re.DOTALL), "an int"),
    (re.compile(r"could not convert string to float: (.*)", re.DOTALL), "a number"),
)
# The message before Python 3.12 and the one since.
_EMPTY = re.compile(r"(min|max)\(\) (?:arg is an empty sequence|iterable argument is empty)")


def _python_words(error: BaseException) -> str:
    name = type(error).__name__
    return f"{name}: {error}" if str(error) else name


def is_of_saft(error: BaseException, scripts: Mapping[str, Running]) -> bool:
    """Whether the error was raised in the code of a script or of saftc, not in other Python."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    path = "" if trace is None else trace.tb_frame.f_code.co_filename
    return path in scripts or is_of_saftc(path)


def _first_line(source: Source, span: Span) -> Span:
    end = source.text.find("\n", span.start, span.end)
    return span if end < 0 else Span(span.start, end)


@dataclass(frozen=True, slots=True)
class _InScript:
    """A frame of a script in the traceback, with the place of the call in the script."""

    frame: FrameType
    script: Running
    span: Span
    stretch: Stretch
    # Whether a record's rule failed: the report points at the place that created the record.
    is_rule: bool = False

    def __str__(self) -> str:
        source = self.script.source
        code = source.line_text(source.line_of(self.span.start)).strip()
        what = "the rule is" if self.is_rule else "called"
        return f"{what} at {self.script.shown(self.span)}: {code}"


@dataclass(frozen=True, slots=True)
class _InPython:
    """A frame of the user's own Python module in the traceback."""

    frame: FrameType
    line: int

    def __str__(self) -> str:
        code = self.frame.f_code
        path = os.path.relpath(code.co_filename)
        shown = code.co_filename if path.startswith("..") else path
        text = linecache.getline(code.co_filename, self.line).strip()
        return f"in {shown}:{self.line}, {code.co_name}: {text}"


def _steps(
    trace: TracebackType | None, scripts: Mapping[str, Running]
) -> Iterator[_InScript | _InPython]:
    """The frames of the user's own code in a traceback, outermost first."""
    while trace is not None:
        frame = trace.tb_frame
        path = frame.f_code.co_filename
        script = scripts.get(path)
        if script is not None and not is_tool_of_server(trace):
            stretch = _iterable_of(_stretch(frame.f_code, trace), script.text)
            span = script.span(stretch) or script.import_at(stretch[0])
            if span is not None:
                yield _InScript(frame, script, span, stretch, is_broken_rule(trace))
        elif script is None and not path.startswith("<") and not is_of_library(path):
            yield _InPython(frame, trace.tb_lineno)
        trace = trace.tb_next


def _iterable_of(stretch: Stretch, text: str) -> Stretch:
    """If `stretch` is the position of a whole loop, returns the position of the loop's iterable.

    Otherwise, returns `stretch`. Before Python 3.12, an error in the iterable has the position of
    the whole loop.
    """
    line, _, end_line, _ = stretch
    if line == end_line:
        return stretch
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.For) and _place(node) == stretch:
            return _place(node.iter)
    return stretch


def _place(node: ast.stmt | ast.expr) -> Stretch:
    return (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset)


def _stretch(code: CodeType, trace: TracebackType) -> Stretch:
    positions = list(code.co_positions())
    index = trace.tb_lasti // 2
    line = trace.tb_lineno
    if not 0 <= index < len(positions):
        return (line, None, line, None)
    start, end, column, end_column = positions[index]
    return (start or line, column, end or start or line, end_column)
