"""What a value comes to that a model writes: as a reply, a field, an argument of a tool, a cell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from runtime_support import ConfigError, ContractError, FileError, ToolRequest, configure, prompt
from runtime_support.map import map_rows
from runtime_support.testing import Queued, Scripted


class Again:
    """The value does not fit, so that the model is asked again, or hears it."""

    def __repr__(self) -> str:
        return "again"


again: Any = Again()


def read_reply(type_: Any, text: str, *, is_async: bool = False) -> Any:
    """The value of a prompt whose reply is the text."""
    return _value([text], is_async, returns=type_)


def read_field(
    type_: Any, written: str, *, is_async: bool = False, arguments: str | None = None
) -> Any:
    """The value of the field of a destructuring that was handed in."""
    sent = f'{{"value": {written}}}' if arguments is None else arguments
    call = ToolRequest("__saft_return_field", sent)
    found = _value([call], is_async, fields={"field": type_})
    return found if found is again else found[0]


def ask_tool(
    type_: Any,
    written: str,
    *,
    is_async: bool = False,
    name: str = "argument",
    arguments: str | None = None,
    default: Any = again,
) -> Any:
    """What a function gets for the argument of a call."""
    seen: list[Any] = []
    tool = _function(type_, seen, name, default)
    sent = f'{{"{name}": {written}}}' if arguments is None else arguments
    _value([ToolRequest("tool", sent), "done"], is_async, tools=[tool])
    return seen[0] if seen else again


def read_row(type_: Any, written: str) -> Any:
    """What a function gets for a cell of JSON lines."""
    seen: list[Any] = []
    Path("table.jsonl").write_text(f'{{"argument": {written}}}\n', encoding="utf-8")
    with suppress(ConfigError, FileError):  # no row can be read
        map_rows(_function(type_, seen, "argument", again), Path("table.jsonl"), "out")
    return seen[0] if seen else again


def _function(type_: Any, seen: list[Any], name: str, default: Any) -> Callable[..., str]:
    """A function with one parameter of the type, which notes what it gets."""
    made: dict[str, Any] = {"type_": type_, "seen": seen, "default": default}
    given = "" if default is again else " = default"
    exec(  # a function whose parameter has the name
        f"def tool({name}: type_{given}) -> str:\n    seen.append({name})\n    return 'ok'\n", made
    )
    return made["tool"]


def _value(replies: list[Queued], is_async: bool, **asked: Any) -> Any:
    with configure(provider=Scripted(replies), max_repairs=0):
        try:
            if not is_async:
                return prompt("?", **asked).value

            async def ask() -> Any:
                return (await prompt.aio("?", **asked)).value

            return asyncio.run(ask())
        except ContractError:
            return again
