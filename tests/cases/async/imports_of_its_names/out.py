# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support.ops import show

import main as main_


async def main() -> None:
    print(await main_.greet("Ada"), show(asyncio.iscoroutine(1)))


if __name__ == "__main__":
    asyncio.run(main())
