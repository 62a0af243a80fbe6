"""Finds tool calls that a model wrote as text, so that nothing was called.

    find_leaked_call('<tool_call>{"name": "temp", "arguments": {}}</tool_call>', ["temp"], ...)
    'temp'

A local server that does not know a model's call syntax passes the calls on as text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from typing import Any

from runtime_support._core.reader.around import split_fences, without_thinking
from runtime_support._core.reader.data import NotData
from runtime_support._core.reader.notation import read_data
from runtime_support._core.reader.prose import LONGEST, data_in
from runtime_support._values.kinds import is_list, is_object

_TAG = re.compile(
    r"<\|?tool_calls?\|?>|<function_call>|<\|python_tag\|>|```tool_code"
    r"|(?P<before_name>\[TOOL_CALLS\]|<function=|to=functions\.)"
)
_NAME = re.compile(r"\s*+([\w.-]++)")


def find_leaked_call(text: str, tools: Collection[str], *, is_text: bool) -> str | None:
    """Returns the name of the offered tool that the reply calls, or None.

    If the prompt wants text (`is_text`), a call without a tag counts only if it is the whole reply.
    """
    body = without_thinking(text, is_text=is_text).strip()
    tag = _TAG.search(body)
    if tag is not None:
        body = body[tag.end() :]
        name = _NAME.match(body)
        if tag["before_name"] and name is not None and name[1] in tools:
            return name[1]
        if tag[0] == "```tool_code":
            return next((one for one in tools if f"{one}(" in body), None)
    only_whole = is_text and tag is None
    called = (_called(data, tools) for data in _data_of(body, only_whole=only_whole))
    return next(filter(None, called), None)


def _data_of(text: str, *, only_whole: bool) -> Iterator[Any]:
    """Yields the JSON data in a text.

    If `only_whole`, the data has to fill the text, or a code fence that itself fills the text.
    """
    contents, outside = split_fences(text)
    only = contents[0] if len(contents) == 1 and not outside.strip() else text
    with suppress(NotData):
        if only_whole:
            yield read_data(only).value
        elif len(text) <= LONGEST:
            yield from (found.value for _, found in data_in(text))


def _called(data: Any, tools: Collection[str]) -> str | None:
    """Returns the name of the tool that the data or a part of it calls. Otherwise returns None."""
    name = str(data.get("name")).rpartition(".")[2] if is_object(data) else ""
    if name in tools and ("arguments" in data or "parameters" in data):
        return name
    inner: Iterable[Any] = data.values() if is_object(data) else data if is_list(data) else ()
    return next(filter(None, (_called(one, tools) for one in inner)), None)
