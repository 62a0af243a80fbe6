"""Prompts, requests and tool calls as OpenTelemetry spans.

    invoke_workflow triage.saft            a run of a script, see `workflow`
    invoke_agent triage.saft:12:5          a prompt, with its place in the script
      chat gpt-4o-mini                     each request
      execute_tool look_up                 each tool call, the parent of spans that the tool starts

Names and attributes follow OpenTelemetry's semantic conventions for generative AI, v0.1.0. Message
contents are left out unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for them. Their
secrets are redacted. The module is loaded only in programs that have imported OpenTelemetry.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.trace import (
    Span,
    SpanKind,
    StatusCode,
    Tracer,
    set_span_in_context,
    use_span,
)

from runtime_support._core.messages import TOKEN_PARTS, Reply, Request
from runtime_support._core.redaction import redacted
from runtime_support._core.results import ToolCall
from runtime_support._core.tasks.waits import StreamClosed
from runtime_support._media import describe_content
from runtime_support._version import __version__
from runtime_support.events import (
    CallEnded,
    CallStarted,
    PromptEnded,
    PromptEvent,
    PromptStarted,
    ReplyReceived,
    RequestSent,
    listen,
)
from runtime_support.providers import provider_and_model

if TYPE_CHECKING:
    from runtime_support._core.hooks import PromptRun

_OPTIONS = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "max_tokens": "gen_ai.request.max_tokens",
    "seed": "gen_ai.request.seed",
    "stop": "gen_ai.request.stop_sequences",
}
_PARTS = {
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_tokens": "gen_ai.usage.cache_write.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
}
# `_ended` records errors, so OpenTelemetry must not do so too.
_WATCHED = {"record_exception": False, "set_status_on_exception": False}
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CONTENTS = ("1", "true", "span_only", "span_and_event")


class Spans:
    """Starts and ends the spans of one prompt."""

    def __init__(self, tracer: Tracer, prompt: PromptRun) -> None:
        provider, model = provider_and_model(prompt.settings)
        self._tracer = tracer
        self._about = {"gen_ai.provider.name": provider, "gen_ai.request.model": model}
        self._place = "prompt" if prompt.place is None else prompt.place.text()
        self._shows_contents = os.environ.get(_CAPTURE, "").lower() in _CONTENTS
        # By the ids of prompts, requests and calls.
        self._open: dict[int, Span] = {}

    def receive(self, event: Any) -> None:
        """Starts or ends the span that the event belongs to."""
        match event:
            case PromptStarted():
                whole = {"gen_ai.agent.name": self._place, **self._about, **_where(self._place)}
                self._begin(event, "invoke_agent", self._place, whole)
            case RequestSent(request=request):
                about = self._of_request(request)
                model = about["gen_ai.request.model"]
                self._begin(event, "chat", model, about, SpanKind.CLIENT)
            case ReplyReceived(reply=reply, error=error):
                self._end(event, {} if reply is None else self._of_reply(reply), error)
            case CallStarted(call=call):
                of_tool = {"gen_ai.tool.name": call.name, "gen_ai.tool.type": "function"}
                span = self._begin(event, "execute_tool", call.name, of_tool)
                call.contexts.append(partial(use_span, span, **_WATCHED))
            case CallEnded(result=None, error=error):
                self._end(event, {}, error)
            case CallEnded(result=result) if result is not None:
                self._end(event, self._of_call(result), result.error)
            case PromptEnded(error=error):
                # A request may still be open if an exception left it.
                for identity in [*self._open][::-1]:
                    _ended(self._open.pop(identity), {}, error)
            case _:
                pass

    def _of_request(self, request: Request) -> dict[str, Any]:
        about: dict[str, Any] = {**self._about}
        if request.model is not None:
            about["gen_ai.request.model"] = request.model
        known = {_OPTIONS[name]: one for name, one in request.options.items() if name in _OPTIONS}
        about |= {**known, "gen_ai.output.type": "text" if request.schema is None else "json"}
        if self._shows_contents:
            about["gen_ai.input.messages"] = _json(list(map(_message, request.messages)))
        return about

    def _of_reply(self, reply: Reply) -> dict[str, Any]:
        about: dict[str, Any] = {
            "gen_ai.response.model": reply.model,
            "gen_ai.response.finish_reasons": [reply.finish],
            "gen_ai.usage.input_tokens": reply.input_tokens,
            "gen_ai.usage.output_tokens": reply.output_tokens,
        }
        about |= {_PARTS[n]: getattr(reply, n) for n in TOKEN_PARTS if getattr(reply, n)}
        if self._shows_contents:
            parts = [{"type": "text", "content": reply.text}] if reply.text else []
            parts += [_call_part(call.name, call.arguments) for call in reply.tool_calls]
            message = {"role": "assistant", "parts": parts, "finish_reason": reply.finish}
            about["gen_ai.output.messages"] = _json([message])
        return about

    def _of_call(self, call: ToolCall) -> dict[str, Any]:
        if not self._shows_contents:
            return {}
        return {
            "gen_ai.tool.call.arguments": _json(call.args),
            "gen_ai.tool.call.result": redacted(call.result or ""),
        }

    def _begin(
        self,
        event: PromptEvent,
        operation: str,
        what: str,
        about: dict[str, Any],
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        inside = self._open.get(event.parent or 0) or self._open.get(event.prompt.id)
        span = self._open[event.id] = self._tracer.start_span(
            redacted(f"{operation} {what}"),
            None if inside is None else set_span_in_context(inside),
            kind,
            {"gen_ai.operation.name": operation, **about},
        )
        return span

    def _end(
        self, event: PromptEvent, about: dict[str, Any], error: BaseException | str | None
    ) -> None:
        _ended(self._open.pop(event.id), about, error)


def _spans_for(prompt: PromptRun) -> Callable[[Any], None] | None:
    """Returns the listener that makes a prompt's spans, or None if OpenTelemetry is not set up."""
    tracer = _tracer()
    return None if tracer is None else Spans(tracer, prompt).receive


listen(_spans_for)


@contextmanager
def workflow(name: str) -> Generator[None]:
    """Opens a span around the run of a script, as the parent of the spans of the run's prompts.

    Does nothing if OpenTelemetry is not set up.
    """
    tracer = _tracer()
    if tracer is None:
        yield
        return
    about = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.agent.name": name}
    span = tracer.start_span(redacted(f"invoke_workflow {name}"), attributes=about)
    error: BaseException | None = None
    try:
        with use_span(span, **_WATCHED):
            yield
    except BaseException as failure:
        is_end = isinstance(failure, SystemExit) and not failure.code
        error = None if is_end else failure
        raise
    finally:
        _ended(span, {}, error)


def _tracer() -> Tracer | None:
    """Returns OpenTelemetry's tracer, or None if OpenTelemetry is not set up."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, (trace.ProxyTracerProvider, trace.NoOpTracerProvider)):
        return None
    return provider.get_tracer("saftc-runtime", __version__)


def _ended(span: Span, about: dict[str, Any], error: BaseException | str | None = None) -> None:
    """Sets the attributes and the error of a span, and ends it."""
    span.set_attributes(about)
    if error is not None and not isinstance(error, StreamClosed | GeneratorExit):
        kind = "tool_error" if isinstance(error, str) else type(error).__name__
        span.set_attribute("error.type", kind)
        span.set_status(StatusCode.ERROR, redacted(str(error)))
    span.end()


def _where(place: str) -> dict[str, Any]:
    file, _, rest = place.partition(":")
    line = rest.partition(":")[0]
    return {"code.file.path": file, "code.line.number": int(line)} if line.isdigit() else {}


def _message(message: dict[str, Any]) -> dict[str, Any]:
    content, role = message["content"], message["role"]
    parts = [{"type": "text", "content": describe_content(content)}] if content else []
    if role == "tool":
        identity = message["tool_call_id"]
        parts = [{"type": "tool_call_response", "id": identity, "response": content}]
    for call in message.get("tool_calls", ()):
        function = call["function"]
        parts.append({**_call_part(function["name"], function["arguments"]), "id": call["id"]})
    return {"role": role, "parts": parts}


def _call_part(name: str, arguments: str) -> dict[str, Any]:
    return {"type": "tool_call", "name": name, "arguments": arguments}


def _json(value: Any) -> str:
    return redacted(json.dumps(value, ensure_ascii=False, default=str))
