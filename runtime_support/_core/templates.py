"""Prompt templates: text with holes for values.

    render("who is longest in {people}?", (), {"people": ["Al", "Bo"]})
    -> RenderedPrompt('who is longest in ["Al","Bo"]?', tools={})

A hole is `{name}` or `{0}`, or `{name:raw}` for an unchanged string; literal braces are doubled. A
function at a hole becomes a tool, and its name is inserted. Inserted values are never scanned for
holes.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from runtime_support._core.hooks import load_part
from runtime_support._values.predicates import (
    is_approved,
    is_function,
    is_list,
    is_tuple,
    plain,
)
from runtime_support.errors import CheckError

if TYPE_CHECKING:
    from runtime_support._media import Content, Piece

# Parameters of `prompt` and `program`: a script's variable needs another keyword.
RESERVED = frozenset(
    (
        *("template", "returns", "fields", "rounds", "options", "after", "tools", "stream"),
        *("conversions", "pure"),
    )
)

_TOKEN = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*|[0-9]+)(:raw)?\}|[{}]")
# The characters of indentation.
_BLANKS = " \t"
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Hole:
    """A place in a template for a value; `key` is the value's name or number."""

    key: str | int
    is_raw: bool


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is known only when the script runs; previews show `mark` in its place.

    `kind` says what kind of value it will be. A function becomes a tool, and an image or a file a
    separate part of the message.
    """

    mark: str
    kind: Literal["value", "function", "image", "file"] = "value"


TemplatePart: TypeAlias = str | Hole


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template: its texts and holes in order, and the keys of the holes."""

    parts: tuple[TemplatePart, ...]
    keys: frozenset[str | int]


class RenderedPrompt(NamedTuple):
    """The content of a prompt, and the functions that its model may call, by tool name.

    A tool may be an `Unknown` instead of a function.
    """

    content: Content
    tools: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The text in the content."""
        content = self.content
        return content if isinstance(content, str) else load_part("media").text_of(content)


def render(template: str, values: tuple[Any, ...], names: Mapping[str, Any]) -> RenderedPrompt:
    """Inserts values into a template. Raises CheckError if they do not fit its holes."""
    if not isinstance(template, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _misfit("template", template)
    read = parse_template(template)
    _check_given(read.keys, values, names)
    tools: dict[str, Any] = {}
    positional = _positional_tool_names(values) if values else {}
    pieces: list[Piece] = []
    for part in read.parts:
        if isinstance(part, str):
            pieces.append(part)
            continue
        key = part.key
        value = plain(values[key] if isinstance(key, int) else names[key])
        if not _is_tool(value):
            pieces += _pieces_of(value, part)
            continue
        name = positional[key] if isinstance(key, int) else tool_name(key)
        offer(tools, name, value)
        pieces.append(name)
    return RenderedPrompt(_content_of(pieces), tools)


def offer(tools: dict[str, Any], name: str, function: Any) -> None:
    """Adds a function to `tools`, under the name by which the model calls it.

    Raises CheckError if the name is taken by another function or cannot be a tool's name.
    """
    known = tools.setdefault(name, function)
    if known != function:  # bound methods are equal but not identical
        if is_approved(known) != is_approved(function):
            hint = "offer it once, as `approve(...)`"
            raise CheckError(f"the tool `{name}` is offered with and without approval", hint=hint)
        raise CheckError(f"two different functions under the tool name `{name}`")
    if not _TOOL_NAME.fullmatch(name):
        others = "other characters than letters, digits, `_` and `-`"
        what = "more than 64 characters" if len(name) > 64 else others
        raise CheckError(f"`{name}` cannot be a tool's name: it has {what}")


def tool_name(key: str) -> str:
    """Returns the tool's name for a function that is passed as the keyword argument `key`.

    If `key` ends in an underscore only to avoid a reserved word, the underscore is removed:
    `class_` becomes `class`.
    """
    stem = key.removesuffix("_")
    forced = stem != key and (keyword.iskeyword(stem) or stem in RESERVED)
    return stem if forced else key


@lru_cache(maxsize=1024)
def parse_template(template: str) -> Template:
    """Cleans a template and parses it into literal texts and holes."""
    text = clean_template(template)
    parts: list[TemplatePart] = []
    end = 0
    for match in _TOKEN.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        token, key = match.group(), match.group(1)
        if key is not None:
            parts.append(Hole(int(key) if key.isdigit() else key, match.group(2) is not None))
        elif len(token) == 2:
            parts.append(token[0])
        else:
            from runtime_support._values.kinds import brief

            near = text[match.start() : match.start() + 20]
            raise CheckError(
                f"template: a lone `{token}` at {brief(near)}",
                hint="write `{{` or `}}` for a brace in the text",
            )
    parts.append(text[end:])
    keys = frozenset(part.key for part in parts if isinstance(part, Hole))
    return Template(tuple(part for part in parts if part != ""), keys)


def clean_template(template: str) -> str:
    """Removes the common indentation of all lines but the first, and white space at both ends.

    Only spaces, tabs and line ends are removed; other white space is text.
    """
    first, *others = template.split("\n")
    lines = [line if line.strip(_BLANKS) else "" for line in others]
    indents = [line[: len(line) - len(line.lstrip(_BLANKS))] for line in lines if line]
    columns = enumerate(zip(*indents, strict=False))
    shortest = min(map(len, indents), default=0)
    margin = next((i for i, blanks in columns if len(set(blanks)) > 1), shortest)
    text = "\n".join([first.lstrip(_BLANKS), *(line[margin:] for line in lines)])
    return text.lstrip("\n").rstrip(_BLANKS + "\n")


def _content_of(pieces: list[Piece]) -> Content:
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(map(str, pieces))
    return load_part("media").content_of(pieces)


def _is_media(value: object) -> bool:
    return getattr(type(value), "__saft_kind__", None) in ("image", "file")


def _is_tool(value: Any) -> bool:
    return value.kind == "function" if isinstance(value, Unknown) else is_function(value)


def _pieces_of(value: Any, hole: Hole) -> Sequence[Piece]:
    """Returns the value at a hole as a list of one text, or as the list of its images and files."""
    if isinstance(value, Unknown) and value.kind == "image":
        return [{"type": "image_url", "image_url": {"url": value.mark}}]
    if isinstance(value, Unknown) and value.kind == "file":
        return [{"type": "file", "file": {"filename": value.mark, "file_data": value.mark}}]
    items: list[Any] = list(value) if is_list(value) or is_tuple(value) else [value]
    if hole.is_raw or not items or not all(map(_is_media, items)):
        return [_text_of(value, hole)]
    return items


def _text_of(value: Any, hole: Hole) -> str:
    if isinstance(value, Unknown):
        return value.mark
    if not hole.is_raw:
        from runtime_support._values.json_text import to_json

        return to_json(value)
    if isinstance(value, str):
        return value
    raise _misfit(f"{{{hole.key}:raw}}", value)


def _misfit(what: str, value: object) -> CheckError:
    """Returns the error for a value that is no text."""
    from runtime_support._values.kinds import brief

    return CheckError(f"{what}: expected string, got {brief(value)}")


def _positional_tool_names(values: tuple[Any, ...]) -> dict[int, str]:
    functions = [index for index, value in enumerate(values) if _is_tool(plain(value))]
    return {index: f"tool_{number}" for number, index in enumerate(functions, 1)}


def _check_given(
    keys: frozenset[str | int], values: tuple[Any, ...], names: Mapping[str, Any]
) -> None:
    given = frozenset[str | int]((*range(len(values)), *names))
    for key in keys - given:
        from runtime_support._values.names import did_you_mean

        hint = did_you_mean(key, names) if isinstance(key, str) else None
        raise CheckError(f"template: no value for `{{{key}}}`", hint=hint)
    for key in given - keys:
        raise CheckError(f"template: `{key}` is given but the template has no `{{{key}}}`")
