"""Running a script: compiled in memory, executed as a program, errors told in terms of the script.

`run` gives the exit code. An uncaught error is shown with the script's line and a caret, and with
the calls that led there; what the runtime itself has to say of the error comes first.
"""

import ast
import json
import linecache
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import CodeType, FrameType, ModuleType, TracebackType

from saftc.codegen.positions import Mapping, locate
from saftc.diagnostics.render import snippet
from saftc.driver import Compiled, compile_checked
from saftc.modules import Modules
from saftc.source import Source, Span

# More callers than this are a recursion: the ends of it tell enough.
_MOST_CALLERS = 8


def run(compiled: Compiled, modules: Modules, arguments: Sequence[str]) -> int:
    """Runs a compiled script with `arguments` as `sys.argv[1:]`; gives the exit code.

    Sibling scripts that it imports are found through `modules`.
    """
    assert compiled.module is not None
    source, text = compiled.checked.source, compiled.module.text
    filename = _remember(source.name, text)
    sys.argv = [source.name, *arguments]
    sys.path.insert(0, str(modules.folder))
    sys.meta_path.insert(0, _SiblingFinder(modules))
    mappings = compiled.module.origins.map(text)
    # Types find the names in their annotations through the module that they are defined in.
    main = ModuleType("__main__")
    main.__dict__["__saft_source_map__"] = _Positions(source, mappings)
    sys.modules["__main__"] = main
    try:
        exec(compile(text, filename, "exec"), main.__dict__)
    except SystemExit:
        raise
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BaseException as error:
        sys.stdout.flush()
        sys.stderr.write(_explain(error, source, filename, text, mappings))
        return 1
    return 0


def _remember(name: str, text: str) -> str:
    """The file name of a compiled text, with its lines where tracebacks look for them."""
    filename = f"<compiled {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    return filename


class _SiblingFinder(MetaPathFinder, Loader):
    """Lets a script import its siblings without their modules being on disk."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """A sibling script as a module, if it is one."""
        is_sibling = self.modules.siblings.get(fullname) is not None
        return spec_from_loader(fullname, self) if is_sibling else None

    def exec_module(self, module: ModuleType) -> None:
        """Runs the sibling's compiled text as the module."""
        checked = self.modules.siblings[module.__name__]
        assert checked is not None
        compiled = compile_checked(checked)
        assert compiled.module is not None
        text = compiled.module.text
        filename = _remember(checked.source.name, text)
        mappings = compiled.module.origins.map(text)
        module.__dict__["__saft_source_map__"] = _Positions(checked.source, mappings)
        exec(compile(text, filename, "exec"), module.__dict__)


class _Positions:
    """What the runtime asks for the place of a prompt: Python's place in, the script's out."""

    def __init__(self, source: Source, mappings: list[Mapping]) -> None:
        self.source = source
        self.mappings = mappings

    def position(self, line: int, column: int | None) -> str | None:
        """`file:line:column` of the script for a place in the output."""
        span = locate(self.mappings, line, column, line, column)
        if span is None:
            return None
        place = self.source.position(span.start)
        return f"{self.source.name}:{place.line}:{place.column}"


def _explain(
    error: BaseException, source: Source, filename: str, text: str, mappings: list[Mapping]
) -> str:
    """The error in terms of the script."""
    places = [
        (frame, span)
        for frame, stretch in _frames(error.__traceback__, filename)
        if (span := locate(mappings, *stretch)) is not None
    ]
    lines = [f"error: {_words(error)}\n"]
    for note in getattr(error, "__notes__", ()):
        if not note.startswith("at "):
            lines.append(f"  {note}\n")
    if not places:
        return "".join([*lines, *traceback.format_exception(error)])
    frame, span = places[-1]
    note = ""
    if isinstance(error, AssertionError):
        note = _compared(frame, text)
        span = next(
            (
                m.span
                for m in mappings
                if m.is_statement
                and m.span.start <= span.start
                and m.span.end >= span.end
                and source.text.startswith("assert", m.span.start)
            ),
            span,
        )
    lines.append(snippet(source, _first_line(source, span), note))
    callers = [span for _, span in places[:-1]]
    for caller in reversed(callers[-_MOST_CALLERS:]):
        line, column = source.position(caller.start)
        code = source.line_text(line).strip()
        lines.append(f"  called at {source.name}:{line}:{column}: {code}\n")
    if len(callers) > _MOST_CALLERS:
        lines.append(f"  ... and {len(callers) - _MOST_CALLERS} calls before\n")
    return "".join(lines)


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


_Stretch = tuple[int, int | None, int, int | None]


def _frames(trace: TracebackType | None, filename: str) -> Iterator[tuple[FrameType, _Stretch]]:
    """The frames of the compiled module, outermost first, and where in it each of them is."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == filename:
            yield trace.tb_frame, _stretch(code, trace)
        trace = trace.tb_next


def _stretch(code: CodeType, trace: TracebackType) -> _Stretch:
    positions = list(code.co_positions())
    index = trace.tb_lasti // 2
    line = trace.tb_lineno
    if not 0 <= index < len(positions):
        return (line, None, line, None)
    start, end, column, end_column = positions[index]
    return (start or line, column, end or start or line, end_column)


def _compared(frame: FrameType, text: str) -> str:
    """The values that a failed assert compared, where showing them runs no code of the script."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Assert) or not (
            node.lineno <= frame.f_lineno <= (node.end_lineno or node.lineno)
        ):
            continue
        if not isinstance(node.test, ast.Compare):
            return ""
        shown: list[str] = []
        for operand in (node.test.left, *node.test.comparators):
            if not isinstance(operand, ast.Constant):
                if not _is_plain(operand):
                    return ""
                code = compile(ast.Expression(operand), "<assert>", "eval")
                value = eval(code, frame.f_globals, dict(frame.f_locals))
                shown.append(_value(value))
        return f"found {' and '.join(shown)}" if shown else ""
    return ""


def _is_plain(node: ast.expr) -> bool:
    """Whether evaluating `node` once more can have no effect."""
    allowed = (
        ast.Name,
        ast.Constant,
        ast.Subscript,
        ast.BinOp,
        ast.UnaryOp,
        ast.Attribute,
        ast.List,
        ast.Tuple,
        ast.Dict,
        ast.operator,
        ast.unaryop,
        ast.expr_context,
    )
    return all(isinstance(part, allowed) for part in ast.walk(node))


def _value(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)
