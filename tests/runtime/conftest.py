"""A clean surrounding for each test: no settings, no keys, no model but the test's own."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from runtime_support import Result, configure, prompt, providers
from runtime_support._core import redaction, spending
from runtime_support._core import scopes as places
from runtime_support._core import settings as config
from runtime_support._journal import hook as keeping
from runtime_support._journal import json_lines as lines
from runtime_support.providers import _backoff, _clients, _retries, _streams
from runtime_support.testing import Queued, Scripted
from tests.support.fake_server import FakeServer

KEY = "sk-test-0123456789abcdefghij"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    keys = ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY")
    for name in list(os.environ):
        if name.startswith("SAFT_") or name in keys:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "_configured", {})
    monkeypatch.setattr(providers, "_made", {})
    monkeypatch.setattr(redaction, "_remembered", {})
    monkeypatch.setattr(spending, "_of_process", spending.UsageMeter())
    monkeypatch.setattr(places, "_root", places.RunScope())
    monkeypatch.setattr(keeping, "_of_process", lines.OpenFiles())
    yield


@pytest.fixture
def scripted() -> Callable[..., Scripted]:
    """Configures queued replies, and gives the provider with its record of requests."""

    def make(*replies: Queued, **settings: Any) -> Scripted:
        provider = Scripted(replies)
        configure(provider=provider, **settings)
        return provider

    return make


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A server on loopback that the `openai` provider talks to, with retries that do not wait."""
    monkeypatch.setattr(_backoff, "FIRST_WAIT", 0.01)
    # However long the machine takes for something else, a connection serves again.
    monkeypatch.setattr(_clients, "_IDLE_SECONDS", 600.0)
    monkeypatch.setattr(_streams, "_DRAIN_SECONDS", 60.0)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeServer() as running:
        configure(provider="openai", base_url=running.url, model="fake")
        yield running


Ask: TypeAlias = Callable[..., Result[str]]


@pytest.fixture(params=["threads", "loop"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """A prompt in a thread, and in an event loop."""
    if request.param == "threads":
        return prompt

    def in_loop(*arguments: Any, **named: Any) -> Result[str]:
        async def main() -> Result[str]:
            awaited: Any = prompt.aio
            return await awaited(*arguments, **named)

        return asyncio.run(main())

    return in_loop


Trust: TypeAlias = Callable[[ssl.SSLContext], None]


@pytest.fixture
def trust(monkeypatch: pytest.MonkeyPatch) -> Trust:
    """Has clients trust whom a context trusts."""
    return lambda context: monkeypatch.setattr(_clients, "_certificates", lambda: context)


class Clock:
    """A time that goes on only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(_retries, "time", clock)
    monkeypatch.setattr(_backoff, "time", clock)
    return clock


class RequestClock:
    """The time of requests: in threads it goes on only by `skip`, in event loops by itself as well.

    Who waits for the network sees that it was skipped with the next bytes, or turn of the loop.
    """

    def __init__(self) -> None:
        self.skipped = 0.0

    def monotonic(self) -> float:
        return self.skipped

    def skip(self, seconds: float) -> None:
        """Has it be so much later."""
        self.skipped += seconds


@pytest.fixture
def request_clock(monkeypatch: pytest.MonkeyPatch) -> RequestClock:
    """What the time-outs of requests look at, so that none is over before the test says so."""
    clock, of_loop = RequestClock(), asyncio.BaseEventLoop.time
    monkeypatch.setattr(_clients, "time", clock)
    monkeypatch.setattr(_streams, "time", clock)
    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda loop: of_loop(loop) + clock.skipped)
    return clock
