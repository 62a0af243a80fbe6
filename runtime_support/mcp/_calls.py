"""Calls the tools of MCP servers for compiled modules.

    docs = server("docs")
    docs.call("search", query="pipes", limit=3, returns=list[Hit])
    await docs.acall("search", query="pipes")

Arguments and results are JSON data, so that journals and recordings can store them: a recorded call
is not repeated, and opens no session. If the tool has an output schema, a result is a value of this
schema. Otherwise the result is text, an image or a file, or a list of these if it has several
parts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from runtime_support._core.hooks import Hook, RequestedCall, load_part, make_call
from runtime_support._core.messages import ReplyStream, Request
from runtime_support._core.positions.frames import annotate, place_of_call
from runtime_support._core.redaction import redacted
from runtime_support._core.results import ToolCall
from runtime_support._core.settings import settings_to_show
from runtime_support._core.tasks.loops import finish_async
from runtime_support._core.tasks.turns import wait_for_turn
from runtime_support._core.tasks.waits import Steps, finish
from runtime_support._schema import model as m
from runtime_support._schema.checking import Check, Mismatch, Validating
from runtime_support._schema.reading import schema_of
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import is_list, is_object, plain
from runtime_support.errors import CheckError, ConfigError, Failed, ReplayMiss, SaftError
from runtime_support.mcp._config import project_folder
from runtime_support.mcp._lock import LockedTool, locked, locked_tool

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from runtime_support._core.hooks import PromptRun, SendRequest

T = TypeVar("T")

_MEDIA = {"image": "Image", "audio": "File"}
# The keywords by which a schema includes other schemas for the same value.
_CHOOSING = {"$ref", "allOf", "anyOf", "oneOf"}


class ToolServer:
    """An MCP server of the project, by its name; `pure` names its tools without side effects."""

    def __init__(self, name: str, pure: Collection[str] = ()) -> None:
        self.name = name
        self.pure = frozenset(pure)

    def __repr__(self) -> str:
        return f"server({self.name!r})"

    @overload
    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        returns: TypeForm[T],
        **named: Any,
    ) -> T: ...
    # For checkers that do not accept every type as a TypeForm, and for tools without a result type.
    @overload
    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        returns: Any = ...,
        **named: Any,
    ) -> Any: ...
    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        returns: Any = Any,
        **named: Any,
    ) -> Any:
        """Calls a tool and returns its result as a value of the type `returns`.

        Optional arguments that are None are left out.

        Raises:
            Failed: The tool or its server fails; the message says which.
            ConfigError: The server is not configured or trusted, or the tool differs from the lock.
            CheckError: The result does not fit `returns`.
        """
        return finish(self._calling(tool, {**(arguments or {}), **named}, returns))

    @overload
    async def acall(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        returns: TypeForm[T],
        **named: Any,
    ) -> T: ...
    @overload
    async def acall(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        returns: Any = ...,
        **named: Any,
    ) -> Any: ...
    async def acall(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        returns: Any = Any,
        **named: Any,
    ) -> Any:
        """Calls a tool from an event loop; see `call`."""
        return await finish_async(self._calling(tool, {**(arguments or {}), **named}, returns))

    def _calling(self, tool: str, arguments: dict[str, Any], returns: Any) -> Steps[Any]:
        try:
            known = locked_tool(project_folder(), self.name, tool)
            sent = _sent(known, arguments)
            is_pure = tool in self.pure
            if not is_pure:
                yield from wait_for_turn()
            name, text = f"mcp({self.name}).{tool}", to_json(sent)
            call = RequestedCall(name, text, "server", is_pure=is_pure, asked=[name, text])
            make = partial(self._made, tool, sent)
            made: ToolCall = yield from make_call(call, settings_to_show(), make)
            outcome = json.loads(made.result or "null")
            if not _is_outcome(outcome):
                raise ConfigError(
                    f"what is kept of a call of {name} is not the result of a tool",
                    hint="the recording was edited by hand: record it again",
                )
            return self._value_of(known, outcome, returns)
        except (SaftError, ReplayMiss) as error:
            # The caller is a function generated for the tool: the position is that of its caller.
            annotate(error, place_of_call(passed=1))
            raise

    def _made(self, tool: str, sent: dict[str, Any], call: RequestedCall) -> Steps[ToolCall]:
        from runtime_support.mcp._sessions import session_of

        started = time.perf_counter()
        outcome = yield session_of(self.name).call(tool, sent)
        milliseconds = (time.perf_counter() - started) * 1000
        return ToolCall(call.name, None, to_json(outcome), None, milliseconds)

    def _value_of(self, tool: LockedTool, outcome: dict[str, Any], returns: Any) -> Any:
        if outcome["is_error"]:
            said = redacted(_text_of(outcome["content"]))
            raise Failed(said or f"`{tool.name}` of the MCP server `{self.name}` failed")
        if "value" not in outcome:
            return _content_of(outcome["content"], self.name)
        value = outcome["value"]
        if tool.is_wrapped and is_object(value) and "result" in value:
            value = value["result"]
        if returns is Any:
            return value
        try:
            return _reading.check(schema_of(returns))(value)
        except Mismatch as mismatch:
            raise mismatch.report(f"`{tool.name}` of the MCP server `{self.name}`") from None


def server(name: str, *, pure: Collection[str] = ()) -> ToolServer:
    """Returns a server of the project; it starts when one of its tools is first called.

    `pure` names the tools without side effects. If a journaled run is stopped during a call of such
    a tool, the resumed run repeats the call.
    """
    return ToolServer(name, pure)


class _ServerValues(Validating):
    """Compiles types to functions that read JSON data of servers, which may have other fields."""

    def keys_check(self, schema: m.ObjectSchema) -> Check:
        check = super().keys_check(schema)
        known = {one.name for one in schema.fields}

        def check_known(value: Any) -> Any:
            is_data = is_object(value)
            return check({k: one for k, one in value.items() if k in known} if is_data else value)

        return check_known

    def compile_type(self, schema: m.Schema) -> Check:
        if isinstance(schema, m.UnionSchema):
            # The object with the most fields first, so that no other one leaves them out.
            schema = m.UnionSchema(tuple(sorted(m.members_of(schema), key=_count_fields)))
        return super().compile_type(schema)


def _count_fields(schema: m.Schema) -> int:
    schema = m.resolved(schema)
    return -len(schema.fields) if isinstance(schema, m.ObjectSchema) else 0


_reading = _ServerValues(reads_json=True)


def _sent(tool: LockedTool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as JSON data, without null for optional parameters."""
    given = json.loads(to_json({name: plain(one) for name, one in arguments.items()}))
    return _without_absent(given, [tool.parameters], tool.parameters)


def _without_absent(value: Any, schemas: list[Any], root: Mapping[str, Any]) -> Any:
    """The value without null in fields that may be left out.

    An object of a script has null for each field that it leaves out, and servers often reject null.
    The value fits one of the `schemas`, or all of them. A null stays if its field is required or
    has no schema, or if the schema allows null and has another default.
    """
    told = _parts(schemas, root)
    if is_list(value):
        items = [one["items"] for one in told if "items" in one]
        return [_without_absent(one, items, root) for one in value]
    if not is_object(value):
        return value
    required = {name for part in told for name in part.get("required") or ()}
    others = [part["additionalProperties"] for part in told if "additionalProperties" in part]
    kept: dict[str, Any] = {}
    for name, one in value.items():
        of = [part["properties"][name] for part in told if name in (part.get("properties") or ())]
        if one is not None or not of or name in required or _is_said_by_null(_parts(of, root)):
            kept[name] = _without_absent(one, of or others, root)
    return kept


def _is_said_by_null(told: list[Mapping[str, Any]]) -> bool:
    """True if a field with null means something other than a missing field.

    This is so if the schemas `told` allow null, and the default of the field is another value.
    """
    return any(one.get("default") is not None for one in told) and any(map(_takes_null, told))


def _takes_null(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type", "null" if not schema.keys() & _CHOOSING else "")
    values = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    return None in values or (not values and "null" in kinds)


def _parts(schemas: Iterable[Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas of one value, and all schemas that they refer to or combine, each once."""
    found: dict[int, Mapping[str, Any]] = {}
    left = [*schemas]
    while left:
        schema = left.pop()
        if not is_object(schema) or id(schema) in found:
            continue
        found[id(schema)] = schema
        left += [one for word in ("allOf", "anyOf", "oneOf") for one in schema.get(word, ())]
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference[:1] == "#":
            left.append(_referred(reference, root))
    return list(found.values())


def _referred(reference: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for name in reference[2:].split("/") if reference[1:] else ():
        name = name.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if is_object(found) else None
    return found


def _is_outcome(data: Any) -> bool:
    """True if the data has the form in which sessions return outcomes.

    The form may be wrong if a person has edited a recording.
    """
    if not is_object(data) or not isinstance(data.get("is_error"), bool):
        return False
    content = data.get("content")
    return is_list(content) and all(is_object(one) and "type" in one for one in content)


# Content


def _text_of(content: list[dict[str, Any]]) -> str:
    return "\n".join(str(part.get("text")) for part in content if part["type"] == "text")


def _content_of(content: list[dict[str, Any]], server: str) -> Any:
    """The value of a result: the value of its only part, or a list of the values of several parts.

    A result without parts has the value None.
    """
    parts = [_part(one, f"{server} {number}") for number, one in enumerate(content, 1)]
    return parts[0] if len(parts) == 1 else parts or None


def _part(part: dict[str, Any], name: str) -> Any:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data), "mimeType": str(type_)}:
            return _media(_MEDIA[kind], name, type_, data)
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource", "resource": {"blob": str(data), **about}}:
            type_ = str(about.get("mimeType", "application/octet-stream"))
            return _media("File", str(about.get("uri", name)), type_, data)
        case {"type": "resource_link", "uri": str(uri)}:
            return uri
        case _:
            return part


def _media(kind: str, name: str, type_: str, data: str) -> Any:
    import base64

    try:
        content = base64.b64decode("".join(data.split()), validate=True)
        return getattr(load_part("media"), kind)(name, type_, content)
    except ValueError:
        raise CheckError(f"the data of {name} is not base64") from None


# The hook for prompts that offer MCP tools


class VerifyTools(Hook):
    """Compares the MCP tools of a prompt with the lock file, before the prompt's first request."""

    def __init__(self, wanted: dict[str, set[str]]) -> None:
        self._wanted = wanted

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Compares the prompt's tools with the lock file, then returns the reply to the request."""
        from runtime_support.mcp._sessions import session_of

        while self._wanted:
            name, tools = next(iter(self._wanted.items()))
            yield session_of(name).checked(tools)
            del self._wanted[name]
        return (yield from proceed(request))


def hook_for(prompt: PromptRun) -> VerifyTools | None:
    """The hook that compares the MCP tools of a prompt with the lock file.

    Returns None if the prompt has no MCP tools.
    """
    wanted: dict[str, set[str]] = {}
    # All functions of the prompt, as a program that the model writes may call any of them.
    for function in prompt.functions.values():
        found = server_of(function)
        if found is not None:
            tools = locked(project_folder(), found.name).tools
            # The code of the function generated for a tool contains the tool's name.
            named = {one for one in function.__code__.co_consts if one in tools}
            wanted.setdefault(found.name, set()).update(named)
    return VerifyTools(wanted) if wanted else None


def server_of(function: Callable[..., Any]) -> ToolServer | None:
    """The server of the tool that a function was generated for, or None for another function.

    The code of a generated function refers to its server.
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return None
    names: dict[str, Any] = getattr(function, "__globals__", {})
    found = (names.get(one) for one in code.co_names)
    return next((one for one in found if isinstance(one, ToolServer)), None)
