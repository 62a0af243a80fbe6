"""Exchanges as lines of JSON, in recordings and in journals: requests, their keys, and replies."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from typing import Any, TypeAlias

from runtime_support._exchange import Reply, Request, ToolRequest
from runtime_support.errors import ConfigError, ToolsUnsupported

KEY_LENGTH = 16

Entry: TypeAlias = dict[str, Any]


def recorded(request: Request) -> Entry:
    """The canonical data of a request, without a model that its program did not choose."""
    data = request.canonical()
    if not request.model_is_given:
        data.pop("model", None)
    return data


def key_of(request: Request) -> str:
    """The key of a request: the same for the same data."""
    return key_of_data(recorded(request))


def key_of_data(data: Any) -> str:
    """The key of JSON data."""
    text = json.dumps(data, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_LENGTH]


def data_of(answer: Reply | ToolsUnsupported) -> Entry:
    """The part of an entry that tells what came of a request."""
    if isinstance(answer, Reply):
        return {"reply": asdict(answer)}
    return {"refused": "tools", "message": answer.message}


def reply_of(entry: Entry, path: str) -> Reply:
    """The reply of an entry; what a later version has written beside it is left out."""
    if "refused" in entry:
        raise ToolsUnsupported(str(entry.get("message", "the provider takes no tools")))
    try:
        reply = _known(Reply, entry["reply"])
        calls = [ToolRequest(**_known(ToolRequest, call)) for call in reply.pop("tool_calls", ())]
        return Reply(**reply, tool_calls=tuple(calls))
    except (AttributeError, KeyError, TypeError) as error:
        key = entry.get("key") or entry.get("hash")
        raise ConfigError(f"{path}: the entry {key} has no usable reply: {error}") from None


def line_of(entry: Entry) -> bytes:
    """The entry as a line."""
    # Of half a surrogate pair, the escape is JSON as well.
    text = json.dumps(entry, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def _known(class_: Any, data: Entry) -> Entry:
    names = {own.name for own in fields(class_)}
    return {name: value for name, value in data.items() if name in names}
