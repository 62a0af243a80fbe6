# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from collections.abc import Awaitable, Callable

from runtime_support.ops import maybe_await


# Nothing asks here, but another script may give a function that does.
async def twice(change: Callable[[int], Awaitable[int] | int], start: int) -> int:
    return await maybe_await(change(await maybe_await(change(start))))


def add(n: int) -> int:
    return n + 1


def adder() -> Callable[[int], Awaitable[int] | int]:
    return add


async def main() -> None:
    print(await twice(add, 1), await twice(adder(), 2))


if __name__ == "__main__":
    asyncio.run(main())
