"""An uncaught error of a running script, told in terms of the scripts it came through.

The script's line and a caret are shown, and the calls that led there; what the runtime itself has
to say of the error comes first.
"""

import ast
import json
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING

from saftc.commands.asserts import compared
from saftc.diagnostics.render import snippet
from saftc.project.workspace import Origin, Workspace
from saftc.source import Source, Span

if TYPE_CHECKING:
    from saftc.codegen.positions import Mapping as Place

# More callers than this are a recursion: the ends of it tell enough.
_MOST_CALLERS = 8


@dataclass(frozen=True)
class Running:
    """A script that is being run; it is compiled again when its places are asked for."""

    file: str
    text: str
    workspace: Workspace

    @cached_property
    def origin(self) -> Origin:
        """The script, and the places of its module."""
        return self.workspace.origin(self.file)

    @property
    def source(self) -> Source:
        """The script."""
        return self.origin.source

    @cached_property
    def places(self) -> "list[Place]":
        """Where in the script each place of the text comes from."""
        return self.origin.generated.origins.map(self.text)

    def span(self, stretch: "Stretch") -> Span | None:
        """The part of the script that a stretch of the text was made from."""
        from saftc.codegen.positions import locate

        return locate(self.places, *stretch)

    def position(self, line: int, column: int | None) -> str | None:
        """`file:line:column` of the script for a place in the text: what the runtime asks for."""
        span = self.span((line, column, line, column))
        return None if span is None else self.shown(span)

    def shown(self, span: Span) -> str:
        """`file:line:column` of a place in the script."""
        line, column = self.source.position(span.start)
        return f"{self.source.name}:{line}:{column}"


# Lines and columns as `co_positions` gives them: first line, first column, last line, last column.
Stretch = tuple[int, int | None, int, int | None]


def explain(error: BaseException, scripts: Mapping[str, Running]) -> str:
    """The text that tells `error`; `scripts` are known by the file names of their code."""
    passed = [
        (frame, script, span)
        for frame, script, stretch in _frames(error.__traceback__, scripts)
        if (span := script.span(_iterable_of(stretch, script.text))) is not None
    ]
    if isinstance(error, ModuleNotFoundError) and error.name == "polars":
        return 'error: dataframes need the package polars; pip install "saftc[tables]"\n'
    lines = [f"error: {_words(error)}\n"]
    for note in getattr(error, "__notes__", ()):
        if not note.startswith("at "):
            lines.append(f"  {note}\n")
    if not passed:
        return "".join([*lines, *traceback.format_exception(error)])
    frame, script, span = passed[-1]
    note = ""
    if isinstance(error, AssertionError):
        note = compared(frame, script.text)
        span = _whole_assert(script, span)
    lines.append(snippet(script.source, _first_line(script.source, span), note))
    callers = passed[:-1]
    for _, caller, place in reversed(callers[-_MOST_CALLERS:]):
        code = caller.source.line_text(caller.source.line_of(place.start)).strip()
        lines.append(f"  called at {caller.shown(place)}: {code}\n")
    if len(callers) > _MOST_CALLERS:
        lines.append(f"  ... and {len(callers) - _MOST_CALLERS} calls before\n")
    return "".join(lines)


def _whole_assert(script: Running, span: Span) -> Span:
    """The assert statement that holds `span`."""
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


def _words(error: BaseException) -> str:
    """The error's own words; Python's bare ones are made whole."""
    name = type(error).__name__
    match error:
        case AssertionError():
            return f"assertion failed: {error}" if str(error) else "assertion failed"
        case KeyError() if type(error) is KeyError:
            return f"missing key {json.dumps(str(error.args[0]) if error.args else '')}"
        case RecursionError():
            return "calls nested too deep: does a function call itself for ever?"
        case _:
            return f"{name}: {error}" if str(error) else name


def _first_line(source: Source, span: Span) -> Span:
    end = source.text.find("\n", span.start, span.end)
    return span if end < 0 else Span(span.start, end)


def _frames(
    trace: TracebackType | None, scripts: Mapping[str, Running]
) -> Iterator[tuple[FrameType, Running, Stretch]]:
    """The frames of compiled scripts, outermost first, and where in the text each of them is."""
    while trace is not None:
        code = trace.tb_frame.f_code
        script = scripts.get(code.co_filename)
        if script is not None:
            yield trace.tb_frame, script, _stretch(code, trace)
        trace = trace.tb_next


def _iterable_of(stretch: Stretch, text: str) -> Stretch:
    """Until 3.12, Python names the whole loop when what it goes over fails: that, instead."""
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
