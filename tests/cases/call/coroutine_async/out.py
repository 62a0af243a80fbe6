# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import Any

from runtime_support import ops
from runtime_support.ops import show

from web import anything, client, fetch, parts, perhaps, size


async def title_of(url: str) -> str:
    return (await fetch(url)).upper()


async def called(function: Any) -> Any:
    return await ops.acall(function, "b")


async def main() -> None:
    page = await fetch("http://a")
    print(
        len(page),
        await title_of("a"),
        await size("a") + 1,
        len(await parts("a")),
        show(await ops.acall(perhaps, "a")),
    )
    print(
        await client().get("a"),
        show(await ops.acall(ops.send, anything(), "get", "a")),
        show(await called(fetch)),
    )
    print(show([await fetch(url) for url in ["a", "b"]]))


if __name__ == "__main__":
    asyncio.run(main())
