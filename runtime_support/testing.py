"""Tools for tests: a fake model with queued replies, and the first request of a prompt.

    model = Scripted(["not JSON", tool_request("look_up", city="Oslo"), "[1, 2]"])
    with configure(provider=model):
        ...
    model.requests[1].messages[-1]["content"]      the last message after the first reply

    first_request(Question("how many r are in {word}?", (), {"word": Unknown("<word>")}))

A queued reply is text, a dict (sent as JSON), a tool call or a list of calls, a Reply, or an
exception to raise.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from runtime_support._core.messages import Reply, Request, ToolRequest
from runtime_support._core.question import Question, first_request
from runtime_support._core.templates import Unknown
from runtime_support._values.kinds import is_list, is_tuple
from runtime_support.errors import ProviderError

__all__ = ["Question", "Queued", "Scripted", "Unknown", "first_request", "tool_request"]

Queued: TypeAlias = (
    str | dict[str, Any] | ToolRequest | Sequence[ToolRequest] | Reply | Exception
)


def tool_request(name: str, /, **arguments: Any) -> ToolRequest:
    """Returns a queued reply in which the model calls the tool `name` with these arguments."""
    return ToolRequest(name, json.dumps(arguments, ensure_ascii=False))


class Scripted:
    """A fake model, which returns the queued replies in order and stores all `requests`.

    Raises TypeError if a queued reply has a wrong type.
    """

    answers_in_order = True

    def __init__(self, replies: Iterable[Queued] = ()) -> None:
        self.replies: list[Queued] = list(replies)
        for queued in self.replies:
            _check(queued)
        self.requests: list[Request] = []
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        """Returns the next queued reply. Raises ProviderError if no reply is left."""
        with self._lock:
            self.requests.append(request)
            if not self.replies:
                raise ProviderError(
                    f"no scripted reply is left for request {len(self.requests)}"
                )
            queued = self.replies.pop(0)
        if isinstance(queued, Exception):
            raise queued
        return _reply(queued)


def _check(queued: object) -> None:
    """Raises TypeError if `queued` cannot be a reply."""
    calls = queued if is_list(queued) or is_tuple(queued) else [queued]
    if all(isinstance(call, ToolRequest) for call in calls):
        return
    if isinstance(queued, str | dict | Reply | Exception):
        return
    kinds = "text, a dict, tool_request(...), a list of those calls, a Reply or an exception"
    raise TypeError(f"a queued reply is {kinds}, not {queued!r}")


def _reply(queued: str | dict[str, Any] | ToolRequest | Sequence[ToolRequest] | Reply) -> Reply:
    if isinstance(queued, Reply):
        return queued
    if isinstance(queued, dict):
        queued = json.dumps(queued, ensure_ascii=False)
    if isinstance(queued, str):
        return Reply(queued, model="scripted")
    calls = (queued,) if isinstance(queued, ToolRequest) else tuple(queued)
    return Reply("", tool_calls=calls, finish="tool_calls", model="scripted")
