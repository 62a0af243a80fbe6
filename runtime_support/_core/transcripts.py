"""Conversations as JSON data, for files and databases.

    write_messages(messages)     [{"role": "user", "content": "hi"}, ...]
    read_messages(data)          the messages again; a CheckError names an invalid place

The form is that of OpenAI's chat completions. A message of the model may have an `opaque` part: its
origin, and data that only its provider understands and wants back, such as signed thoughts. The
data may be untrusted. System messages in the data are refused unless the caller trusts it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NoReturn, cast

from runtime_support._core.messages import (
    AssistantMessage,
    Message,
    Origin,
    Reply,
    ToolErrorMessage,
    ToolRequest,
)
from runtime_support._core.reader.replies import read_arguments
from runtime_support._core.results import NOTHING_BEFORE, Transcript
from runtime_support._values.kinds import brief, is_list, is_object, is_result, plain
from runtime_support._values.names import listed
from runtime_support.errors import CheckError, ConfigError

_ROLES = ("user", "assistant", "tool", "system")
# The roles that instruct the model; servers treat them as the same.
_LEADING = ("system", "developer")
_KEYS = {
    "user": ("content",),
    "assistant": ("content", "tool_calls", "opaque"),
    "tool": ("content", "tool_call_id", "is_error"),
    "system": ("content",),
}
# The non-text content parts of a user's message, with their text fields; the first is required.
_PARTS: dict[str, tuple[str, ...]] = {
    "image_url": ("url", "detail"),
    "file": ("file_data", "filename", "file_id"),
    "input_audio": ("data", "format"),
}
# All content parts, with the names of the texts that are directly in the part.
_CONTENTS: dict[str, tuple[str, ...]] = {"text": ("text",), **dict.fromkeys(_PARTS, ())}
# The keys that wires keep of a reply, and of a call; none is a field of a message.
_OF_REPLIES = ("reasoning_details", "reasoning_content", "reasoning", "output", "content")
_OF_CALLS = ("extra_content",)
# The kinds of items and blocks that a model writes itself, with their required fields. Only trusted
# data may have others, such as results that a server would take for its own.
_ITEMS: dict[str, tuple[str, ...]] = {
    **{"message": (), "reasoning": (), "function_call": ("call_id", "name", "arguments")},
}
_BLOCKS: dict[str, tuple[str, ...]] = {
    **{"text": ("text",), "thinking": ("thinking",), "redacted_thinking": ("data",)},
    "tool_use": ("id", "name"),
}


def write_messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Returns the messages as JSON data, each as a new dict."""
    return list(map(_written, messages))


def _written(message: Message) -> dict[str, Any]:
    data = dict(message)
    if isinstance(message, ToolErrorMessage):
        data["is_error"] = True
    reply = message.reply if isinstance(message, AssistantMessage) else None
    if reply is not None and reply.origin is not None:
        opaque: dict[str, Any] = asdict(reply.origin)
        if reply.opaque is not None:
            opaque["reply"] = dict(reply.opaque)
        if reply.tool_calls:
            opaque["calls"] = [
                {"id": one.id, **({} if one.opaque is None else {"opaque": dict(one.opaque)})}
                for one in reply.tool_calls
            ]
        data["opaque"] = opaque
    return data


def earlier(after: Any, trusts_system: Any, *, has_system: bool) -> Transcript:
    """Returns the conversation of `after`, or an empty one.

    If `after` is a list of messages, its system message becomes an option, unless `has_system` says
    that the prompt sets its own. Raises ConfigError if `trusts_system` is not a bool.
    """
    trusts = plain(trusts_system)
    if not isinstance(trusts, bool | None):
        said = f"option trust_system: expected bool, got {brief(trusts)}"
        raise ConfigError(said, setting="trust_system")
    if after is None:
        return NOTHING_BEFORE
    if is_result(after):
        before: Transcript = after.transcript
        if not before.messages:
            raise CheckError("`after` takes the result of a prompt that was sent")
        return before
    if not isinstance(after, list | tuple):
        what = "a result or a list of messages"
        raise CheckError(f"a prompt comes `after` {what}, got {brief(after)}")
    messages = read_messages(cast("list[Any]", after), trusts_system=bool(trusts) or has_system)
    leading = messages[:1] if messages and messages[0]["role"] == "system" else []
    options = {"system": leading[0]["content"]} if leading and not has_system else {}
    return Transcript(messages, options)


def read_messages(data: Sequence[Any], *, trusts_system: bool = False) -> list[Message]:
    """Returns the messages of a conversation that is JSON data, with new ids for its calls.

    Raises a CheckError with the place of the first mistake: an unknown role or key, an untrusted
    system message, a call without a result, a result without a call.
    """
    reader = _TranscriptReader(trusts_system)
    for number, item in enumerate(data):
        reader.add(plain(item), f"messages[{number}]")
    reader.end("the end")
    return reader.messages


class _TranscriptReader:
    """Reads messages one by one. Remembers the calls that have no result yet, by their ids."""

    def __init__(self, trusts_system: bool) -> None:
        self.messages: list[Message] = []
        self._trusts_system = trusts_system
        self._count = 0
        self._open: dict[str, str] = {}
        self._caller = ""

    def add(self, item: Any, place: str) -> None:
        if not is_object(item):
            _refuse(place, f"expected an object with a `role`, got {brief(item)}")
        role = item.get("role")
        role = "system" if role in _LEADING else role
        if role not in _ROLES:
            found = brief(role) if "role" in item else "nothing"
            _refuse(f"{place}.role", f"expected one of {listed(_ROLES)}, got {found}")
        for key in item:
            if key != "role" and key not in _KEYS[role] and item[key] is not None:
                known = listed(("role", *_KEYS[role]))
                _refuse(f"{place}.{key}", f"a message of `{role}` has {known} only")
        if role == "tool":
            self._add_result(item, place)
            return
        self.end(place)
        if role == "assistant":
            self._add_reply(item, place)
        elif role == "system":
            self._add_system(item, place)
        else:
            content = self._content(item.get("content"), f"{place}.content")
            self.messages.append({"role": role, "content": content})

    def end(self, place: str) -> None:
        """Raises CheckError if a call has no result yet.

        `place` names the next message, for the text of the error.
        """
        if self._open:
            calls = listed(self._open)
            _refuse(self._caller, f"{calls} has no result before {place}", _NO_RESULT)

    def _add_system(self, item: Any, place: str) -> None:
        if self.messages:
            _refuse(place, "a system message has to be the first message")
        if not self._trusts_system:
            hint = "`with {system: ...}` sets your own one; `trust_system: true` accepts this one"
            _refuse(place, "a system message in the data is not trusted", hint)
        text = _text(item.get("content"), f"{place}.content")
        self.messages.append({"role": "system", "content": text})

    def _add_result(self, item: Any, place: str) -> None:
        identity = _text(item.get("tool_call_id"), f"{place}.tool_call_id")
        if identity not in self._open:
            _refuse(
                place,
                f"a result of {brief(identity)}, which is not an open call",
                "the rest of a conversation must begin with a message of the user",
            )
        content = _text(item.get("content"), f"{place}.content")
        message = {"role": "tool", "tool_call_id": self._open.pop(identity), "content": content}
        self.messages.append(ToolErrorMessage(message) if item.get("is_error") is True else message)

    def _add_reply(self, item: Any, place: str) -> None:
        given: Any = plain(item.get("tool_calls"))
        content = item.get("content")
        if content is not None or not given:
            content = _text(content, f"{place}.content")
        message: Message = {"role": "assistant", "content": content}
        calls: list[dict[str, Any]] = []
        if given is not None:
            calls = [
                self._call(call, f"{place}.tool_calls[{number}]")
                for number, call in enumerate(_list(given, f"{place}.tool_calls"))
            ]
        if calls:
            message["tool_calls"] = calls
            self._caller = place
        opaque = plain(item.get("opaque"))
        if opaque is not None:
            message = self._said(message, _object(opaque, f"{place}.opaque"), f"{place}.opaque")
        self.messages.append(message)

    def _call(self, given: Any, place: str) -> dict[str, Any]:
        call = _object(plain(given), place)
        identity = _text(call.get("id"), f"{place}.id")
        if identity in self._open:
            _refuse(f"{place}.id", f"{brief(identity)} appears twice")
        function = _object(plain(call.get("function")), f"{place}.function")
        name = _text(function.get("name"), f"{place}.function.name")
        arguments = _text(function.get("arguments"), f"{place}.function.arguments")
        try:
            read_arguments(arguments)
        except CheckError as error:
            _refuse(f"{place}.function.arguments", error.message)
        self._count += 1
        ours = self._open[identity] = f"call{self._count:05d}"
        return {
            "id": ours,
            "type": "function",
            "function": {"name": name, "arguments": arguments or "{}"},
        }

    def _said(self, message: Message, opaque: Mapping[str, Any], place: str) -> AssistantMessage:
        """Returns the model's message with its opaque part, read from `opaque`.

        Raises CheckError for an unknown key, because it could become a field of the next request.
        """
        origin = Origin(*(_text(opaque.get(name), f"{place}.{name}") for name in _ORIGIN))
        _only(opaque, (*_ORIGIN, "reply", "calls"), place)
        reply = _opaque_part(opaque.get("reply"), _OF_REPLIES, f"{place}.reply")
        self._check_parts(reply, "output", _ITEMS, f"{place}.reply")
        self._check_parts(reply, "content", _BLOCKS, f"{place}.reply")
        calls = message.get("tool_calls", [])
        given = _list(plain(opaque.get("calls") or []), f"{place}.calls")
        if len(given) != len(calls):
            _refuse(f"{place}.calls", f"expected as many as there are calls, {len(calls)}")
        asked: list[ToolRequest] = []
        for number, (call, one) in enumerate(zip(calls, given, strict=True)):
            where = f"{place}.calls[{number}]"
            own = _object(plain(one), where)
            _only(own, ("id", "opaque"), where)
            part = _opaque_part(own.get("opaque"), _OF_CALLS, f"{where}.opaque")
            function = call["function"]
            identity = _text(own.get("id"), f"{where}.id")
            asked.append(ToolRequest(function["name"], function["arguments"], identity, part))
        text = message["content"] or ""
        return AssistantMessage(message, Reply(text, tuple(asked), opaque=reply, origin=origin))

    def _check_parts(
        self,
        reply: Mapping[str, Any] | None,
        name: str,
        kinds: Mapping[str, tuple[str, ...]],
        place: str,
    ) -> None:
        """Raises CheckError for an invalid part of a reply.

        In untrusted data, also refuses kinds of parts that a model does not write.
        """
        if reply is None or name not in reply:
            return
        for where, part, kind in _kinds_of(reply[name], f"{place}.{name}", kinds, "message"):
            if part.get("role", "assistant") != "assistant":
                _refuse(where, "not an item of the model")
            if not self._trusts_system and kind is None:
                found = brief(part.get("type"))
                _refuse(f"{where}.type", f"{found} is none of {listed(kinds)}", _TRUSTED)
            if kind == "tool_use":
                _object(part.get("input"), f"{where}.input")

    def _content(self, value: Any, place: str) -> Any:
        """Returns the content of a user's message, which is a text or a list of parts."""
        value = plain(value)
        if not is_list(value):
            return _text(value, place)
        parts: list[dict[str, Any]] = []
        for where, part, kind in _kinds_of(value, place, _CONTENTS):
            if kind is None:
                known, found = listed(_CONTENTS), brief(part.get("type"))
                _refuse(f"{where}.type", f"expected one of {known}, got {found}")
            if kind in _PARTS:
                self._check_part(kind, part, where)
            parts.append(dict(part))
        return parts

    def _check_part(self, kind: str, part: dict[str, Any], place: str) -> None:
        inner = _object(plain(part.get(kind)), f"{place}.{kind}")
        needed, *others = _PARTS[kind]
        if "file_id" in inner:
            if not self._trusts_system:
                said = "the provider would open this file as the owner of the key"
                _refuse(f"{place}.{kind}.file_id", said, _TRUSTED)
            needed = "file_id"
        _only(inner, _PARTS[kind], f"{place}.{kind}")
        for name in (needed, *(one for one in others if one in inner)):
            _text(inner.get(name), f"{place}.{kind}.{name}")


_NO_RESULT = "a conversation can continue only when all its calls have results"
_TRUSTED = "`trust_system: true` accepts it; set it only if you alone write the data"
_ORIGIN = ("wire", "address", "model")


def _opaque_part(value: Any, known: Sequence[str], place: str) -> Mapping[str, Any] | None:
    if value is None:
        return None
    part = _object(plain(value), place)
    _only(part, known, place)
    try:
        json.dumps(part, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        _refuse(place, f"not JSON data: {error}")
    return part


def _kinds_of(
    value: Any, place: str, kinds: Mapping[str, tuple[str, ...]], usual: str | None = None
) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """Yields each part in a list, with its place and its kind. An unknown kind becomes None.

    `kinds` maps each known kind to the names of the texts that a part of this kind must have.
    `usual` is the kind of a part without `type`.
    """
    for number, given in enumerate(_list(value, place)):
        where = f"{place}[{number}]"
        part = _object(plain(given), where)
        kind = part.get("type", usual)
        kind = kind if isinstance(kind, str) and kind in kinds else None
        for field in kinds[kind] if kind is not None else ():
            _text(part.get(field), f"{where}.{field}")
        yield where, part, kind


def _only(value: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    for key in value:
        if key not in known:
            _refuse(f"{place}.{key}", f"only {listed(known)} can be there")


def _text(value: Any, place: str) -> str:
    value = plain(value)
    if not isinstance(value, str):
        _refuse(place, f"expected string, got {brief(value)}")
    return value


def _object(value: Any, place: str) -> dict[str, Any]:
    if not is_object(value):
        _refuse(place, f"expected an object, got {brief(value)}")
    return value


def _list(value: Any, place: str) -> list[Any]:
    if not is_list(value):
        _refuse(place, f"expected a list, got {brief(value)}")
    return value


def _refuse(place: str, problem: str, hint: str | None = None) -> NoReturn:
    raise CheckError(f"{place}: {problem}", hint=hint)
