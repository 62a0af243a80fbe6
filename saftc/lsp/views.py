"""Views of a script: read-only texts with its compiled module or its requests.

The editor shows a view beside the script and updates it after changes. The URI of a view contains
the script's path: `saft-python:/a/in.saft.py` is the module of `/a/in.saft`. While a script has
errors, its view keeps the last text.
"""

import os
from dataclasses import dataclass, replace
from typing import Literal

from saftc.lsp.session import Script
from saftc.previews.rendering import Preview, as_text
from saftc.previews.requests import preview
from saftc.source import Source, Span
from saftc.syntax import nodes as n

Kind = Literal["python", "request"]
_ENDINGS: dict[Kind, str] = {"python": ".py", "request": ".txt"}
SCHEMES = tuple(f"saft-{kind}" for kind in _ENDINGS)


@dataclass(frozen=True, slots=True)
class View:
    """The text of a view. `lines` maps ranges of its lines to spans of the script.

    A range has the numbers of its first and last line. It comes before the ranges inside it.
    """

    text: str
    lines: tuple[tuple[int, int, Span], ...]

    def of(self, source: Source, line: int) -> tuple[int, int] | None:
        """The first and last line of the view for a line of the script; None if there are none.

        Lines are counted from 1.
        """
        found: tuple[int, int] | None = None
        for first, last, span in self.lines:
            if source.line_of(span.start) <= line <= source.line_of(max(span.start, span.end - 1)):
                found = first, last
        return found

    def from_line(self, source: Source, line: int) -> tuple[int, int] | None:
        """The first and last line of the script for a line of the view; None if there are none.

        Lines are counted from 1.
        """
        found: tuple[int, int] | None = None
        for first, last, span in self.lines:
            if first <= line <= last:
                found = source.line_of(span.start), source.line_of(max(span.start, span.end - 1))
        return found


def address(kind: Kind, uri: str) -> str:
    """The URI of a view of the script at a `file:` URI."""
    return f"saft-{kind}:{uri.partition(':')[2]}{_ENDINGS[kind]}"


def script_of(uri: str) -> tuple[Kind, str] | None:
    """The kind of the view at a URI, and the URI of its script; None if it is not a view's URI."""
    scheme, _, rest = uri.partition(":")
    for kind, ending in _ENDINGS.items():
        if scheme == f"saft-{kind}" and rest.endswith(ending):
            return kind, f"file:{rest.removesuffix(ending)}"
    return None


def message_view(reason: str) -> View:
    """A view that shows, as a Python comment, why there is nothing else to show."""
    return View(f"# {reason}\n", ())


def view(kind: Kind, script: Script) -> View | None:
    """A view of the script; None if the script has errors."""
    if script.checked.has_errors:
        return None
    return _python(script) if kind == "python" else _requests(script)


def request_of(script: Script, prompt: n.Prompt) -> str:
    """The first request of a prompt of a script without errors."""
    line, column = script.source.position(prompt.span.start)
    position = f"{script.source.name}:{line}:{column}"
    found = preview(script.compiled, script.python_objects)
    return _text([one for one in found if one.position == position])


def _text(previews: list[Preview]) -> str:
    """The previews as text. Their positions name the script's file without its folder."""
    return as_text([replace(one, position=os.path.basename(one.position)) for one in previews])


def _python(script: Script) -> View | None:
    module = script.compiled.module
    if module is None:
        return None
    mappings = module.origins.map(module.text)
    lines = ((one.line, one.end_line, one.span) for one in mappings if one.is_statement)
    return View(module.text, tuple(lines))


def _requests(script: Script) -> View:
    prompts = {
        f"{script.source.name}:{line}:{column}": node.span
        for node in script.nodes
        if isinstance(node, n.Prompt)
        for line, column in [script.source.position(node.span.start)]
    }
    previews = preview(script.compiled, script.python_objects)
    texts = [_text([one]) for one in previews]
    starts = [0]
    for text in texts:
        # A blank line separates two requests.
        starts.append(starts[-1] + text.count("\n") + 1)
    lines = tuple(
        (start + 1, start + text.count("\n"), prompts[one.position])
        for start, text, one in zip(starts, texts, previews, strict=False)
    )
    return View("\n".join(texts) if texts else "This script has no prompts.\n", lines)
