# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import AsyncResult, prompt


async def answer(question: str) -> AsyncResult[str]:
    """Await the call, then loop over the `pieces()` of what it gives, or await that, too."""
    return prompt.aio("{question}", question=question, stream=True)


async def more(question: str) -> AsyncResult[str]:
    """Says more.

    Await the call, then loop over the `pieces()` of what it gives, or await that, too.
    """
    reply = prompt.aio("More on {question}.", question=question, stream=True)
    return reply


async def main() -> None:
    async for piece in (await answer("a")).pieces():
        print(piece)
    async for piece in (await more("b")).pieces():
        print(piece)


if __name__ == "__main__":
    asyncio.run(main())
