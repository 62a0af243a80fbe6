# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import Any

from runtime_support import Result, ops, prompt
from runtime_support.ops import show


async def ask(earlier: Result[Any]) -> Result[str]:
    return await prompt.aio("And then?", after=earlier)


async def main() -> None:
    first = await prompt.aio("Who is the oldest of {0}?", ["Ada", "Grace"])
    more = await prompt.aio("And the youngest?", after=first)
    short = await prompt.aio(
        "Look it up with {len}.",
        len=ops.len,
        rounds=1,
        options={"temperature": 0},
        after=more,
    )
    last = await ask(short)
    print(first.value, more.usage.requests, show(short.tool_calls), last.text)


if __name__ == "__main__":
    asyncio.run(main())
