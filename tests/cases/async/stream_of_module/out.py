# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import AsyncResult, prompt
from runtime_support.ops import show


async def listed() -> list[list[str]] | list[list[int]]:
    return [[item] async for item in flow.items()]


async def shown() -> None:
    async for item in flow.items():
        print(item)


flow: AsyncResult[list[int]]


async def main() -> None:
    global flow
    flow = prompt.aio("#4 a", returns=list[int], stream=True)
    print(show(await listed()))
    await shown()


if __name__ == "__main__":
    asyncio.run(main())
