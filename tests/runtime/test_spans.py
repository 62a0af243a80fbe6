"""Prompts, requests and calls of tools as spans of OpenTelemetry."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from runtime_support import (
    ContractError,
    ProviderError,
    Reply,
    configure,
    later,
    program,
    prompt,
    together,
)
from runtime_support.testing import Scripted, tool_request

SECRET = "sk-proj-abcdefghijklmnop1234"
Made = Callable[..., Scripted]


class Spans:
    """The spans that have ended, by name, without the place of a prompt."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self.exporter = exporter

    def all(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def named(self, start: str) -> list[ReadableSpan]:
        return [span for span in self.all() if span.name.startswith(start)]

    def tree(self) -> list[tuple[str, str | None]]:
        """Each span with the one around it, in the order of their ends."""
        names = {span.context.span_id: span.name.split()[0] for span in self.all()}
        return [
            (
                names[span.context.span_id],
                None if span.parent is None else names[span.parent.span_id],
            )
            for span in self.all()
        ]


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spans]:
    """A program that has set up OpenTelemetry."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield Spans(exporter)
    provider.shutdown()


def greet(name: str) -> str:
    return f"hello {name}"


def test_a_prompt_its_requests_and_tools(scripted: Made, spans: Spans) -> None:
    scripted(
        tool_request("greet", name="Ada"), Reply("7", (), "stop", "m-1-2026", 30, 4), model="m-1"
    )
    prompt("{greet}", greet=greet, returns=int, options={"temperature": 0, "seed": 3})
    assert spans.tree() == [
        ("chat", "invoke_agent"),
        ("execute_tool", "invoke_agent"),
        ("chat", "invoke_agent"),
        ("invoke_agent", None),
    ]
    _, tool, last, whole = spans.all()
    assert tool.name == "execute_tool greet" and last.name == "chat m-1"
    assert last.kind is SpanKind.CLIENT and tool.kind is SpanKind.INTERNAL
    assert dict(last.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "Scripted",
        "gen_ai.request.model": "m-1",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.seed": 3,
        "gen_ai.output.type": "json",
        "gen_ai.response.model": "m-1-2026",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 30,
        "gen_ai.usage.output_tokens": 4,
    }
    assert dict(tool.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "greet",
        "gen_ai.tool.type": "function",
    }
    attributes = whole.attributes or {}
    assert attributes["code.file.path"] == "test_spans.py"
    assert whole.name == f"invoke_agent test_spans.py:{attributes['code.line.number']}"
    assert all(span.status.status_code is StatusCode.UNSET for span in spans.all())


def test_what_a_tool_does_is_inside_of_it(scripted: Made, spans: Spans) -> None:
    tracer = trace.get_tracer_provider().get_tracer("own")

    def ask(name: str) -> str:
        with tracer.start_as_current_span("own"):
            return prompt("who is {name}?", name=name).value

    scripted(tool_request("ask", name="Ada"), "a mathematician", "done")
    with tracer.start_as_current_span("all"):
        prompt("{ask}", ask=ask)
    assert spans.tree() == [
        ("chat", "invoke_agent"),
        ("chat", "invoke_agent"),
        ("invoke_agent", "own"),
        ("own", "execute_tool"),
        ("execute_tool", "invoke_agent"),
        ("chat", "invoke_agent"),
        ("invoke_agent", "all"),
        ("all", None),
    ]


def test_what_fails(scripted: Made, spans: Spans) -> None:
    def broken() -> str:
        raise LookupError("not there")

    scripted(tool_request("broken"), "no number", "none", ProviderError(f"no {SECRET}"))
    with pytest.raises(ContractError):
        prompt("{broken}", broken=broken, returns=int)
    with pytest.raises(ProviderError):
        prompt("who?")
    assert [(span.attributes or {}).get("error.type") for span in spans.all()] == [
        None,
        "tool_error",
        None,
        None,
        "ContractError",
        "ProviderError",
        "ProviderError",
    ]
    assert spans.all()[1].status.description == "LookupError: not there"
    assert spans.all()[5].status.description == "no [redacted]"


def test_a_tool_that_ends_everything(scripted: Made, spans: Spans) -> None:
    def stopping() -> str:
        raise KeyboardInterrupt

    scripted(tool_request("stopping"))
    with pytest.raises(KeyboardInterrupt):
        prompt("{stopping}", stopping=stopping)
    ended = [span.name.split()[0] for span in spans.all()]
    assert ended == ["chat", "execute_tool", "invoke_agent"]


def test_an_error_that_is_being_handled_is_not_the_prompts(scripted: Made, spans: Spans) -> None:
    scripted("fine")
    try:
        raise LookupError
    except LookupError:
        prompt("go on")
    assert spans.all()[-1].status.status_code is StatusCode.UNSET


def test_contents_only_when_asked_for(
    scripted: Made, spans: Spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    scripted(tool_request("greet", name="Ada"), f"done with {SECRET}")
    prompt("{greet} with {key}", greet=greet, key=SECRET)
    last = spans.named("chat")[1].attributes or {}
    asked, called, given = json.loads(str(last["gen_ai.input.messages"]))
    assert asked["parts"] == [{"type": "text", "content": 'greet with "[redacted]"'}]
    call = {"type": "tool_call", "name": "greet", "arguments": '{"name": "Ada"}'}
    assert called["parts"] == [{**call, "id": "call00001"}]
    response = {"type": "tool_call_response", "id": "call00001", "response": "hello Ada"}
    assert given == {"role": "tool", "parts": [response]}
    said = json.loads(str(last["gen_ai.output.messages"]))
    assert said[0]["parts"] == [{"type": "text", "content": "done with [redacted]"}]
    tool = spans.named("execute_tool")[0].attributes or {}
    assert tool["gen_ai.tool.call.arguments"] == '{"name": "Ada"}'
    assert tool["gen_ai.tool.call.result"] == "hello Ada"


def test_calls_of_a_program(scripted: Made, spans: Spans) -> None:
    scripted('{"greet": {"name": "Ada"}}')
    program("{greet}", greet=greet)
    assert [name for name, _ in spans.tree()] == ["chat", "execute_tool", "invoke_agent"]


@pytest.mark.parametrize("asked", ["tools", "program", "in turn"])
def test_calls_have_the_times_at_which_they_ran(scripted: Made, spans: Spans, asked: str) -> None:
    tracer = trace.get_tracer_provider().get_tracer("own")
    barrier = threading.Barrier(1 if asked == "in turn" else 3)
    ran: dict[int, tuple[int, int]] = {}

    def work(n: int) -> int:
        with tracer.start_as_current_span(f"own {n}"):
            began = time.time_ns()
            barrier.wait(30)
            ran[n] = began, time.time_ns()
        return n + 1

    if asked == "tools":
        scripted([tool_request("work", n=n) for n in (1, 2, 3)], "done")
        prompt("?", tools=[work], pure=[work])
    else:
        beside = json.dumps([{"work": {"n": n}} for n in (1, 2, 3)])
        text = '{"work": {"n": {"work": {"n": 1}}}}' if asked == "in turn" else beside

        class Always:
            def complete(self, request: Any) -> Reply:
                return Reply(text)

        configure(provider=Always())
        program("?", tools=[work], pure=[work])
    own = {int(span.name.split()[1]): span for span in spans.named("own")}
    calls = {span.context.span_id: span for span in spans.named("execute_tool")}
    (agent,) = spans.named("invoke_agent")
    assert len(calls) == len(own) == len(ran)
    for n, (began, ended) in ran.items():
        parent = own[n].parent
        assert parent is not None
        call = calls[parent.span_id]
        assert call.parent is not None and call.parent.span_id == agent.context.span_id
        assert (call.start_time or 0) <= began and ended <= (call.end_time or 0)
    if asked == "in turn":
        first, second = sorted(calls.values(), key=lambda span: span.start_time or 0)
        assert (first.end_time or 0) <= (second.start_time or 0)


def test_prompts_at_the_same_time(spans: Spans) -> None:
    class Echo:
        def complete(self, request: Any) -> Reply:
            return Reply("echo")

    configure(provider=Echo(), max_in_flight=3)
    tracer = trace.get_tracer_provider().get_tracer("own")
    with tracer.start_as_current_span("all"):
        together(*(later(prompt, f"number {number}") for number in range(3)))
    assert sorted(spans.tree(), key=str) == [
        ("all", None),
        *[("chat", "invoke_agent")] * 3,
        *[("invoke_agent", "all")] * 3,
    ]


@pytest.mark.parametrize("imported", ["", "import opentelemetry.trace"])
def test_without_being_set_up_it_costs_nothing(imported: str) -> None:
    code = f"""if True:
        {imported}
        import sys
        from runtime_support import configure, prompt
        configure(provider="mock")
        assert prompt("hello").value
        assert ("opentelemetry.trace" in sys.modules) == bool({imported!r})
        from runtime_support._core.hooks import hooks_for
        from runtime_support._core.settings import settings_for
        from runtime_support._core.hooks import PromptRun
        around = hooks_for(PromptRun(settings_for()))
        assert [type(one).__name__ for one in around] == ["RetryHook", "UsageHook"]
    """
    subprocess.run([sys.executable, "-c", code], check=True)
