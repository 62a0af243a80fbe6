# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from functools import partial, reduce
from typing import Any

from runtime_support import check, in_thread, ops, prompt
from runtime_support.ops import kind, show


async def urgency(mail: str) -> int:
    return (await prompt.aio("How urgent is {mail}?", mail=mail, returns=int)).value


async def rank(mail: str) -> str:
    return (await prompt.aio("Rank {mail}.", mail=mail)).value


def by_length(mail: str) -> int:
    return len(mail)


mails = ["a", "b"]


async def ordered(items: list[str]) -> list[str]:
    return check(await in_thread(sorted, items, key=urgency, reverse=True), list[str])


async def apply(change: Any, x: str) -> Any:
    return await ops.acall(change, x)


# what may be such a function is passed to Python in a thread
async def folded(change: Any, items: list[str]) -> Any:
    return await in_thread(reduce, change, items)


async def glued(a: str, b: str) -> str:
    return a + (await prompt.aio("After {b}.", b=b)).value


def joined(a: str, b: str) -> str:
    return a + b


async def main() -> None:
    # Python calls them from a thread, which waits for the event loop
    print(
        show(await in_thread(sorted, mails, key=urgency)),
        await in_thread(
            max,
            mails,
            key=urgency,
        ),
        await in_thread(min, mails, key=rank),
    )
    print(show(sorted(mails, key=by_length)))
    later = await in_thread(partial, urgency, "c")

    chosen = urgency if len(mails) > 1 else by_length
    handlers = {"fast": urgency, "slow": by_length}
    print(
        show(await apply(urgency, "a")),
        show(await apply(by_length, "a")),
        await ops.acall(chosen, "b"),
        await handlers["fast"]("c"),
        handlers["slow"]("d"),
    )
    unknown: Any = handlers
    print(
        show(await ops.acall(ops.send, unknown, "fast", "e")),
        show(await ops.acall(ops.index(unknown, "fast"), "f")),
        show(await ordered(mails)),
        kind(later),
    )
    ask = urgency
    print(
        await ask("g"),
        show([await ops.acall(change, "h") for change in [urgency, by_length]]),
    )
    print(
        show(await folded(glued, mails)),
        show(await folded(joined, mails)),
        show(reduce(joined, mails)),
    )


if __name__ == "__main__":
    asyncio.run(main())
