"""Prompts, requests and calls of tools as spans of OpenTelemetry.

    invoke_workflow triage.saft            a run of a script, see `workflow`
    invoke_agent triage.saft:12:5          a prompt, with its place
      chat gpt-4o-mini                     each request
      execute_tool look_up                 each call; what the tool does is inside of it

Names and attributes are those of its semantic conventions for generative AI, v0.1.0. What was said
is left out, unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for it; then it has no
secrets.
Only a program that has imported OpenTelemetry pays for this.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.trace import (
    INVALID_SPAN,
    Span,
    SpanKind,
    StatusCode,
    Tracer,
    set_span_in_context,
    use_span,
)

from runtime_support._effects import Abandoned
from runtime_support._exchange import TOKEN_PARTS, Reply, Request
from runtime_support._media import describe_content
from runtime_support._observe.tracing import Observer
from runtime_support._redaction import redacted
from runtime_support._results import ToolCall
from runtime_support._seams import register
from runtime_support._version import __version__
from runtime_support.errors import ReplayMiss, SaftError
from runtime_support.providers import who_answers

if TYPE_CHECKING:
    from runtime_support.providers import PromptCall

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
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CONTENTS = ("1", "true", "span_only", "span_and_event")


class Spans(Observer):
    """Begins and ends the spans of one prompt."""

    order = 11

    @classmethod
    def of(cls, call: PromptCall) -> Spans | None:
        """The spans, where the program has set up OpenTelemetry."""
        tracer = _tracer()
        if tracer is None:
            return None
        place = "prompt" if call.place is None else call.place.text()
        return cls(tracer, place, *who_answers(call.settings))

    def __init__(self, tracer: Tracer, place: str, provider: str, model: str) -> None:
        self._tracer = tracer
        self._about = {"gen_ai.provider.name": provider, "gen_ai.request.model": model}
        self._place = place
        self._shows_contents = os.environ.get(_CAPTURE, "").lower() in _CONTENTS
        self._prompt: Span | None = None
        self._request: Span | None = None
        self._tool: Span | None = None

    def sent(self, request: Request) -> None:
        if self._prompt is None:
            whole = {"gen_ai.agent.name": self._place, **self._about, **_where(self._place)}
            self._prompt = self._begun("invoke_agent", self._place, whole, None)
        about: dict[str, Any] = {**self._about}
        if request.model is not None:
            about["gen_ai.request.model"] = request.model
        known = {_OPTIONS[name]: one for name, one in request.options.items() if name in _OPTIONS}
        about |= {**known, "gen_ai.output.type": "text" if request.schema is None else "json"}
        if self._shows_contents:
            about["gen_ai.input.messages"] = _json(list(map(_message, request.messages)))
        model = about["gen_ai.request.model"]
        self._request = self._begun("chat", model, about, self._prompt, SpanKind.CLIENT)

    def received(self, reply: Reply) -> None:
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
        self._request = _ended(self._request, about)

    def unanswered(self, error: SaftError | ReplayMiss) -> None:
        self._request = _ended(self._request, {}, error)

    @contextmanager
    def at_work(self, tool: str | None) -> Generator[None]:
        if tool is not None:
            self._tool = self._begun("execute_tool", tool, _of_tool(tool), self._prompt)
        around = self._tool or self._prompt
        with use_span(around or INVALID_SPAN):
            yield

    def called(self, call: ToolCall) -> None:
        # Calls of a program are reported when all are over.
        about: dict[str, Any] = {}
        span = self._tool or self._begun(
            "execute_tool", call.tool, _of_tool(call.tool), self._prompt, began=call.duration
        )
        if self._shows_contents:
            about["gen_ai.tool.call.arguments"] = _json(call.args)
            about["gen_ai.tool.call.result"] = redacted(call.result or "")
        self._tool = _ended(span, about, call.error)

    def over(self, error: BaseException | None) -> None:
        if isinstance(error, Abandoned | GeneratorExit):  # the rest was not wanted
            error = None
        # A tool or a request that something has thrown out of.
        self._tool = _ended(self._tool, {}, error)
        self._request = _ended(self._request, {}, error)
        self._prompt = _ended(self._prompt, {}, error)

    def _begun(
        self,
        operation: str,
        what: str,
        about: dict[str, Any],
        inside: Span | None,
        kind: SpanKind = SpanKind.INTERNAL,
        began: float = 0.0,
    ) -> Span:
        """A span, which began `milliseconds` ago."""
        return self._tracer.start_span(
            redacted(f"{operation} {what}"),
            None if inside is None else set_span_in_context(inside),
            kind,
            {"gen_ai.operation.name": operation, **about},
            start_time=time.time_ns() - int(began * 1_000_000),
        )


register(Spans)


@contextmanager
def workflow(name: str) -> Generator[None]:
    """The run of a script as a span, which those of its prompts are inside of.

    Where the program has not set up OpenTelemetry, nothing.
    """
    tracer = _tracer()
    if tracer is None:
        yield
        return
    about = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.agent.name": name}
    span = tracer.start_span(redacted(f"invoke_workflow {name}"), attributes=about)
    error: BaseException | None = None
    try:
        with use_span(span, record_exception=False, set_status_on_exception=False):
            yield
    except BaseException as failure:
        is_end = isinstance(failure, SystemExit) and not failure.code
        error = None if is_end else failure
        raise
    finally:
        _ended(span, {}, error)


def _tracer() -> Tracer | None:
    """What begins spans; None where the program has not set up OpenTelemetry."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, (trace.ProxyTracerProvider, trace.NoOpTracerProvider)):
        return None
    return provider.get_tracer("saftc-runtime", __version__)


def _ended(
    span: Span | None, about: dict[str, Any], error: BaseException | str | None = None
) -> None:
    """Ends a span, if there is one, with what came of it."""
    if span is None:
        return
    span.set_attributes(about)
    if error is not None:
        kind = "tool_error" if isinstance(error, str) else type(error).__name__
        span.set_attribute("error.type", kind)
        span.set_status(StatusCode.ERROR, redacted(str(error)))
    span.end()


def _of_tool(name: str) -> dict[str, Any]:
    return {"gen_ai.tool.name": name, "gen_ai.tool.type": "function"}


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
