# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from collections.abc import Awaitable, Callable

from runtime_support import prompt
from runtime_support.ops import maybe_await


async def answered(question: str, tell: Callable[[str], Awaitable[None] | None]) -> str:
    answer = (await prompt.aio("{question}", question=question)).value
    await maybe_await(tell(answer))
    return answer


async def asked(question: str) -> str:
    return (await prompt.aio("Say it shorter: {question}", question=question)).value


async def changed(text: str, change: Callable[[str], Awaitable[str] | str]) -> str:
    return await maybe_await(change(text)) + "!"


def show_it(text: str) -> None:
    print(text)


async def main() -> None:
    await answered("Why?", show_it)
    print(await changed("It is so.", asked))


if __name__ == "__main__":
    asyncio.run(main())
