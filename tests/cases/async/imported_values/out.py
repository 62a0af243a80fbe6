# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
import os

from runtime_support import ops
from runtime_support.ops import show

import desk
from desk import handler, handlers, root, sqrt

# one of two, and what is known only when the script runs
if os.environ.get("SHELF") is None:
    from desk import ask
else:
    from shelf import ask


async def main() -> None:
    print(
        show(await ops.acall(ask, "a")),
        await ops.acall(handler, "b"),
        await ops.acall(desk.handler, "c"),
    )
    print(
        await handlers["fast"]("d"),
        handlers["slow"]("e"),
        await desk.handlers["fast"]("f"),
    )

    # of Python
    print(sqrt(4.0), root(4.0), show(desk.sqrt(4.0)))


if __name__ == "__main__":
    asyncio.run(main())
