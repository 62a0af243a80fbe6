"""Formatted strings: Python's own, wherever Python 3.11 can read them.

    f"{name} has {count:,}"         f"{name} has {count:,}"
    f"{items} of {get(row, k)}"     f"{show(items)} of {show(...)}"
    f"{join(words, "\\n")}"         "{}".format("\\n".join(words))

A hole of Python 3.11 holds no backslash, no line end and no quote of the string around it. Strings
in it have single quotes; where that does not do, the values stand behind the text.
"""

import re

from saftc.codegen import python as py
from saftc.codegen.builtins import printed
from saftc.codegen.context import Context
from saftc.codegen.layout import code_of
from saftc.codegen.python import Expression
from saftc.semantics.forms import Form
from saftc.syntax import nodes as n

_UNREADABLE = re.compile(r'[\\\n"#]')


def emit_formatted_string(context: Context, node: n.FormattedString) -> Expression:
    """`f"text {value:spec}"`."""
    parts = [_part(context, part) for part in node.parts]
    if all(isinstance(part, str) for part in parts):
        return py.constant("".join(part for part in parts if isinstance(part, str)))
    holes = [part for part in parts if not isinstance(part, str)]
    if all(_is_readable(value) for value, _ in holes):
        return py.formatted(parts)
    return py.call(py.attribute(py.template(parts), "format"), [value for value, _ in holes])


def _part(context: Context, part: n.FormatText | n.FormatHole) -> str | tuple[Expression, str]:
    """The text, or the value of a hole with its format."""
    if isinstance(part, n.FormatText):
        return part.text
    spec = part.spec or ""
    if part.spec is None:
        made = printed(context, part.value)
    else:
        made = context.emit(part.value)
        if context.facts.forms.holes[part] == Form.OPS:
            made, spec = context.operation("format", made, py.constant(spec)), ""
            context.note(made, part.span)
    quoted = py.single_quoted(made)
    if quoted is not made:
        context.note(quoted, part.value.span)
    return quoted, spec


def _is_readable(made: Expression) -> bool:
    return not _UNREADABLE.search(code_of(made))
