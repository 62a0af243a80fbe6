"""Which tools the mock calls, and with what.

The plan is the tools in the order in which the text names them; each round of calls is one stage:

    "For each verb in ["a","b"]: 1) call up(verb) 2) call suffix(output)"
    stage 1: up with each verb      stage 2: suffix with each output of stage 1
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from runtime_support.exchange import ToolRequest
from runtime_support.jsontext import to_json
from runtime_support.providers.mock.answering import argument_for
from runtime_support.providers.mock.fitting import Fitting, JSONSchema
from runtime_support.providers.mock.reading import Reading
from runtime_support.providers.mock.tables import columns_taken
from runtime_support.values import is_list, is_object

Tool = dict[str, Any]
Stage = list[tuple[str, Any]]

_ALTERNATIVES = re.compile(r"\b(or|either|choose|between|whichever|one of)\b", re.IGNORECASE)
MOST_CALLS = 4


def next_calls(reading: Reading, tools: list[Tool], stages: list[Stage]) -> list[ToolRequest]:
    """The calls of the next stage; none when the plan is done. `stages` are those done."""
    names = {tool["name"] for tool in tools}
    reading = replace(reading, names=tuple(name for name in reading.names if name not in names))
    plan = _plan(reading, tools)
    if len(stages) >= len(plan):
        return []
    tool = plan[len(stages)]
    columns = _columns(tool, reading)
    if columns:
        return [_call(tool, [column], reading) for column in columns[:MOST_CALLS]]
    if stages and len(_parameters(tool)) == 1:
        return [_call(tool, [output], reading) for _, output in stages[-1]]
    if reading.asks("each", "every") and reading.lists:
        return [_call(tool, _taken_apart(item, tool), reading) for item in reading.lists[0]]
    return _calls_from_text(tool, reading)


def mention(text: str, name: str) -> int:
    """Where the text names a function; its length when it does not."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return found.start() if found else len(text)


def _plan(reading: Reading, tools: list[Tool]) -> list[Tool]:
    """The tools in the order in which the text names them; of alternatives, the fitting one."""
    named = sorted(tools, key=lambda tool: mention(reading.text, tool["name"]))
    if len(named) > 1 and _ALTERNATIVES.search(reading.text):
        return [max(named, key=lambda tool: _fitness(tool, reading))]
    return named


def _fitness(tool: Tool, reading: Reading) -> int:
    """How much of the tool's name and description the rest of the text says."""
    about = f"{tool['name']} {tool.get('description', '')}".lower().replace("_", " ")
    rest = re.sub(rf"(?<!\w){re.escape(tool['name'])}(?!\w)", " ", reading.text).lower()
    stems = {word[:5] for word in re.findall(r"[a-z]{3,}", rest)}
    return len(stems & {word[:5] for word in re.findall(r"[a-z]{3,}", about)})


def _parameters(tool: Tool) -> dict[str, JSONSchema]:
    return tool["parameters"].get("properties", {})


def _fitting(tool: Tool) -> Fitting:
    return Fitting(tool["parameters"].get("$defs", {}))


def _columns(tool: Tool, reading: Reading) -> list[str]:
    """The columns of a dataframe in the prompt that the tool's one parameter takes."""
    parameters = _parameters(tool)
    if len(parameters) != 1:
        return []
    ((name, schema),) = parameters.items()
    return columns_taken(name, _fitting(tool).resolved(schema).get("enum"), reading)


def _taken_apart(item: Any, tool: Tool) -> list[Any]:
    """An item of a list as arguments: a list in it is several, unless one parameter takes it."""
    if not is_list(item):
        return [item]
    takes = _fitting(tool).takes
    is_whole = any(takes(schema, item) for schema in _parameters(tool).values())
    return [item] if is_whole else item


def _calls_from_text(tool: Tool, reading: Reading) -> list[ToolRequest]:
    """One call with the values; with one parameter, a call for each value that fits it."""
    parameters = _parameters(tool)
    if len(parameters) == 1:
        (schema,) = parameters.values()
        takes = _fitting(tool).takes
        whole = [value for value in reading.values if takes(schema, value)]
        items = [item for one in reading.lists for item in one if takes(schema, item)]
        names = [name for name in reading.names if takes(schema, name)]
        found = whole or items or names
        if found:
            return [_call(tool, [value], reading) for value in found[:MOST_CALLS]]
    return [_call(tool, [*reading.values, *reading.names], reading)]


def _together(schema: JSONSchema, values: list[Any], fitting: Fitting) -> list[Any]:
    """Single values as the list or the pair that a parameter takes."""
    schema = fitting.resolved(schema)
    single = [value for value in values if not is_list(value) and not is_object(value)]
    if "prefixItems" in schema:
        single = single[: len(schema["prefixItems"])]
    takes = schema.get("type") == "array" and fitting.takes(schema, single)
    return single if takes else []


def _call(tool: Tool, values: list[Any], reading: Reading) -> ToolRequest:
    """A call with these values where they fit by name or type, and plausible ones elsewhere."""
    fitting = _fitting(tool)
    objects = [value for value in values if is_object(value)]
    left = list(values)
    arguments: dict[str, Any] = {}
    for name, schema in _parameters(tool).items():
        named = next((one[name] for one in objects if name in one), None)
        if named is not None and fitting.takes(schema, named):
            arguments[name] = named
            continue
        suited = [index for index, value in enumerate(left) if fitting.takes(schema, value)]
        together = _together(schema, left, fitting)
        if suited:
            arguments[name] = left.pop(suited[0])
        elif together:
            arguments[name] = together
            left = [value for value in left if value not in together]
        elif name in tool["parameters"].get("required", ()):
            inner = {**schema, "$defs": fitting.definitions}
            arguments[name] = argument_for(inner, reading, name)
    return ToolRequest(tool["name"], to_json(arguments))
