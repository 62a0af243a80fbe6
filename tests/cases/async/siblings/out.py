# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import ops, overlap, prompt
from runtime_support.ops import show

import desk
import untyped
from desk import Ticket, triage
from desk import twice as again


async def ask(text: str) -> str:
    return (await prompt.aio("{text}", text=text)).value


async def main() -> None:
    tickets = await overlap.aio(triage, ["a", "b"])
    ticket: Ticket = await desk.triage("c")
    print(show(tickets), ticket.title, desk.size(ticket))

    # functions that wait for what they are given
    print(
        show(await again(ask, "d")),
        show(await again(ops.upper, "e")),
        show(await untyped.apply(ask, "f")),
        show(await untyped.apply(ops.upper, "g")),
    )
    print(show(await untyped.held({"go": ask})))


if __name__ == "__main__":
    asyncio.run(main())
