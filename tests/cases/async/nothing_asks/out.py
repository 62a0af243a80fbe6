# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


async def twice(change: Any, x: str) -> Any:
    return await ops.acall(change, await ops.acall(change, x))


def main_() -> None:
    print("as without --async")


async def main() -> None:
    print(show(await twice(ops.upper, "a")), show(sorted(["b", "a"], key=len)))
    main_()


if __name__ == "__main__":
    asyncio.run(main())
