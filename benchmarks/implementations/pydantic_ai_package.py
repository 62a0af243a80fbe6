"""pydantic-ai as its documentation shows it: an agent of a model, run and streamed."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from worker import serve

URL = sys.argv[1]


def agent(path: str) -> Agent[None, str]:
    provider = OpenAIProvider(base_url=f"{URL}/{path}/v1", api_key="none")
    return Agent(OpenAIChatModel("fake", provider=provider))


lates, streams, piecewise = map(agent, ("late", "stream", "pieces"))
ASKED = 'Describe "Oslo".'


async def awaited() -> str:
    return (await lates.run(ASKED)).output


async def lag() -> float:
    found = 0.0
    async with streams.run_stream(ASKED) as answer:
        async for piece in answer.stream_text(delta=True, debounce_by=None):
            found = found or (time.monotonic_ns() - int(piece)) / 1e9
    return found


async def count() -> int:
    async with piecewise.run_stream(ASKED) as answer:
        return len([one async for one in answer.stream_text(delta=True, debounce_by=None)])


with asyncio.Runner() as runner:

    def here(work: Callable[[], Awaitable[object]]) -> Callable[[], object]:
        async def whole() -> object:
            return await work()

        return lambda: runner.run(whole())

    assert here(awaited)() == "Oslo is cold and bright."
    assert here(count)() == 1000
    serve({"awaited": awaited, "stream": here(lag), "pieces": here(count)})
