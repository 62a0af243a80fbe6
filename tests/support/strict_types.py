"""A package's own types of requests, made strict: they judge what we send.

    mistakes({"model": "m", "messages": [{"role": "banana", "content": "x"}]}, wire="chat")
                                                                    "messages.0..."

As they stand, the types check no iterable and take unknown keys without a word. Here every
iterable is a list, and every TypedDict refuses what it does not name.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from functools import cache
from typing import Any

import typing_extensions
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

# What goes back as the server gave it, which the package knows nothing of.
OF_MESSAGES = ("reasoning_details", "reasoning_content", "reasoning")
OF_CALLS = ("extra_content",)

_made: dict[Any, Any] = {}


def strict(kind: Any) -> Any:
    """The type made strict, with all that it is made of."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if typing_extensions.is_typeddict(kind):
        if kind not in _made:
            _made[kind] = kind  # types that hold themselves
            _made[kind] = _strict_object(kind)
        return _made[kind]
    if origin in (typing_extensions.Required, typing_extensions.NotRequired):
        return origin[strict(arguments[0])]
    if origin in (collections.abc.Iterable, list):
        return list[strict(arguments[0])]
    if origin in (typing.Union, types.UnionType):
        # The models of replies may stand beside; they take keys that they do not name.
        kept = tuple(strict(one) for one in arguments if not _is_of_models(one))
        return typing.Union[kept]  # noqa: UP007
    return str if "typing.IO" in str(kind) or "PathLike" in str(kind) else kind


def _is_of_models(kind: Any) -> bool:
    """Whether this is a model, or one of several."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _is_of_models(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return all(map(_is_of_models, arguments))
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _strict_object(kind: Any) -> Any:
    fields: dict[str, Any] = {}
    for name, hint in typing_extensions.get_type_hints(kind, include_extras=True).items():
        is_marked = typing.get_origin(hint) in (
            typing_extensions.Required,
            typing_extensions.NotRequired,
        )
        is_needed = name in kind.__required_keys__ or is_marked
        fields[name] = strict(hint) if is_needed else typing_extensions.NotRequired[strict(hint)]
    make: Any = typing_extensions.TypedDict  # checkers take literal fields alone
    made = make(f"{kind.__name__}{len(_made)}", fields)
    made.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return made


@cache
def _requests(wire: str) -> TypeAdapter[Any]:
    """The requests of a wire, by the package that speaks it."""
    match wire:
        case "chat":
            from openai.types.chat import CompletionCreateParams as kind
        case "responses":
            from openai.types.responses import ResponseCreateParams as kind
        case "messages":
            from anthropic.types.message_create_params import MessageCreateParams as kind
        case _:
            raise AssertionError(f"no package is known to judge the wire {wire}")
    return TypeAdapter(strict(kind))


def mistakes(
    body: dict[str, Any], extra: collections.abc.Collection[str] = (), *, wire: str = "chat"
) -> str:
    """What is wrong with a request by the types of the wire's package, "" if nothing is.

    `extra` names options that a test has set on purpose and that the package does not know.
    """
    known = {name: value for name, value in body.items() if name not in extra}
    if wire == "chat" and "messages" in known:
        known["messages"] = list(map(_known_message, known["messages"]))
    try:
        _requests(wire).validate_python(known, strict=True)
    except ValidationError as error:
        return str(error)
    return ""


def _known_message(message: dict[str, Any]) -> dict[str, Any]:
    if message.get("role") != "assistant":
        return message
    known = {name: part for name, part in message.items() if name not in OF_MESSAGES}
    if "tool_calls" in known:
        known["tool_calls"] = [
            {name: part for name, part in call.items() if name not in OF_CALLS}
            for call in known["tool_calls"]
        ]
    return known
