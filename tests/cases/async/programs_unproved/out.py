# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import Any

from runtime_support import in_thread, ops, program
from runtime_support.ops import show
from runtime_support.programs import Plan, run


def act(x: int) -> int:
    return x + 1


async def go(p: Any) -> Any:
    return await run.aio(p)


async def main() -> None:
    plan = (await program.aio("{act}", act=act, returns=Plan)).value
    ps: list[Any] = [plan]
    print(
        show(await run.aio(plan)),
        show(await run.aio(ps[0])),
        show(await go(plan)),
        show(await run.aio(plan)),
        show(await run.aio(plan=ps[0])),
    )
    g = run.aio
    print(
        show(await ops.acall(g, plan)),
        show(await in_thread(ops.sorted, [plan], by=run.aio)),
        show(await run.aio(await run.aio(plan))),
    )
    print(show([await ops.acall(r, plan) for r in [run.aio]]))


if __name__ == "__main__":
    asyncio.run(main())
