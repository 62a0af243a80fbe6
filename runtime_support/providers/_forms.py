"""Finds a form of a request that a server accepts, and remembers it.

    known = UnsupportedFeatures()
    known.milder_form(wire, request, form, rejected)     the form to try next
    known.remember(request, begun, found)                what the server has not accepted
    known.form_for(request, form)                        the form for a later request

The module is loaded when a server first rejects a request.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from runtime_support._core.messages import Request
from runtime_support._core.notes import note
from runtime_support.errors import ToolsUnsupported
from runtime_support.providers._wires import Rejected, RequestForm, Wire

# The words by which servers name a part of a request. Each key is a field of `RequestForm`.
_NAMES_OF_PARTS = {
    "thoughts": re.compile(r"encrypted|thinking"),
    "counted": re.compile(r"stream_options|include_usage"),
    "streamed": re.compile(r"\bstream"),
    "enforced": re.compile(
        r"schema|response[ _]format|structured[ _]output|output[ _](format|config)|text\.format"
        r"|grammar|too many states"
    ),
}
# Features of a form that are switched off.
_SWITCHES = ("thoughts", "counted", "streamed")
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_OF_LIMIT = re.compile(r"max[_ ]?(completion_|output_|new_)?tokens|completion tokens|output tokens")
# A smaller number in an error message is a position or a version, not a limit.
_LEAST_LIMIT = 256
# Servers without tools are recognized by these words alone: retrying without tools would be a
# different request.
_NO_TOOLS = re.compile(
    r"(does not|doesn't) support (tools?|functions?)\b( (use|usage|calls?|calling))?"
    r"(?! ?[\"'`\[.:])"
    r"|\b(tools?|tool use|(tool|function)[ -]call(s|ing))[\"'`]? (is|are) not (supported|enabled)"
    r"|no endpoints found that support tool use"
    r"|tool choice requires --enable-auto-tool-choice"
    r"|tools param requires --jinja"
    r"|(unknown|unrecognized|unsupported|unexpected) [a-z ]+:? [\"'`]?tools\b(?![\[.])"
    r"|'tools'[\])], 'msg': 'extra inputs are not permitted"
)


class UnsupportedFeatures:
    """Remembers for ten minutes which features a server does not support.

    After that, requests use these features again.
    """

    SECONDS = 600.0
    MOST = 256

    def __init__(self) -> None:
        self._until: dict[tuple[str, ...], float] = {}
        # By model, the highest `max_tokens` that the server accepts.
        self._limits: dict[str, int] = {}

    def form_for(self, request: Request, form: RequestForm) -> RequestForm:
        """Returns the form without the features that the server does not support.

        Raises ToolsUnsupported if the request needs tools and the model has none.
        """
        model = form.origin.model
        if request.tools and ("tools", model) in self:
            raise ToolsUnsupported(f"{model} at {form.origin.address} takes no tools")
        lacking = {part: False for part in _SWITCHES if (part, model) in self}
        is_refused = ("schema", model, json.dumps(request.schema)) in self
        if is_refused and request.enforce_schema != "on":
            lacking["enforced"] = False
        has_new_limit = form.has_new_limit or ("has_new_limit", model) in self
        most = self._limits.get(model)
        return replace(form, **lacking, has_new_limit=has_new_limit, most_tokens=most)

    def milder_form(
        self, wire: Wire, request: Request, form: RequestForm, rejected: Rejected
    ) -> RequestForm:
        """Returns another form of the request that the server may accept.

        Raises the server's error if there is no such form.
        """
        model, error = form.origin.model, rejected.error
        has_results = any(message["role"] == "tool" for message in request.messages)
        if request.tools and _NO_TOOLS.search(rejected.words) and not has_results:
            self.add("tools", model)
            raise ToolsUnsupported(error.message, status=error.status) from None
        sent = wire.render(request, form)
        for other in _milder_forms(form, sent[1], rejected.words):
            if wire.render(request, other) != sent and (
                other.enforced == form.enforced or request.enforce_schema != "on"
            ):
                return other
        raise error from None

    def remember(self, request: Request, begun: RequestForm, found: RequestForm) -> None:
        """Records the features by which the form that the server accepted differs from the first.

        They are recorded for the model of the request.
        """
        model = found.origin.model
        for part in (*_SWITCHES, "has_new_limit"):
            if getattr(found, part) != getattr(begun, part):
                self.add(part, model)
        if found.enforced != begun.enforced:
            self.add("schema", model, json.dumps(request.schema))
        most = found.most_tokens
        if most is not None and most != begun.most_tokens:
            self._limits[model] = most
            note(f"{model} gives at most {most} tokens: `max_tokens` is that")

    def add(self, *what: str) -> None:
        """Records a feature that the server does not support, such as ("tools", model)."""
        # A new dict each time, as other threads may be reading the old one.
        latest = list(self._until.items())[1 - self.MOST :]
        self._until = {**dict(latest), what: self.now() + self.SECONDS}

    def now(self) -> float:
        """Returns the current time in seconds; tests override it."""
        return time.monotonic()

    def __contains__(self, what: tuple[str, ...]) -> bool:
        return self._until.get(what, 0.0) > self.now()


def _milder_forms(form: RequestForm, body: dict[str, Any], words: str) -> Iterator[RequestForm]:
    """Yields forms of the request that change or omit a part named by the error message."""
    if "max_completion_tokens" in words:
        yield replace(form, has_new_limit=True)
    limits = [body[name] for name in _LIMITS if isinstance(body.get(name), int)]
    if limits and _OF_LIMIT.search(words):
        named = (int(one.replace(",", "")) for one in re.findall(r"\d[\d,]{0,11}", words))
        smaller = [one for one in named if _LEAST_LIMIT <= one < limits[0]]
        if smaller:
            yield replace(form, most_tokens=max(smaller))
    for part, names in _NAMES_OF_PARTS.items():
        if getattr(form, part) and names.search(words):
            yield replace(form, **{part: False})
