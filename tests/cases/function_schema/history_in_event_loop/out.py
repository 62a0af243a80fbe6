# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from collections.abc import Awaitable, Callable

from runtime_support import Result, check, prompt
from runtime_support.ops import maybe_await, show


async def asked(question: str) -> Result[str]:
    return await prompt.aio("{question}", question=question)


async def changed(text: str, change: Callable[[str], Awaitable[str] | str]) -> str:
    return await maybe_await(change(text)) + "!"


async def main() -> None:
    answer = await asked("Why?")
    print(
        show(answer.tool_calls),
        await changed("It is so.", check(asked, Callable[[str], Awaitable[str] | str])),
    )


if __name__ == "__main__":
    asyncio.run(main())
