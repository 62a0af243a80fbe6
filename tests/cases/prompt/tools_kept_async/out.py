# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import Any

from runtime_support import Result, prompt
from runtime_support.ops import read_line


def find_orders(name: str) -> list[str]:
    return [name]


def refund(order: str) -> str:
    return order


async def greet(name: str) -> Result[str]:
    return await prompt.aio(
        "Greet {name}.",
        name=name,
        options={"model": "small"},
        tools=[find_orders],
    )


async def asked(tool: Any, question: str) -> str:
    first = await prompt.aio("Use {tool}.", tool=tool)
    return (
        await prompt.aio(
            "{question:raw}",
            question=question,
            after=first,
            tools=first.tools,
        )
    ).value


async def main() -> None:
    history = await greet("Ada")
    while True:
        line = read_line("> ")
        if line == "":
            break
        history = await prompt.aio(
            "{line:raw}",
            line=line,
            after=history,
            tools=history.tools,
        )
        print(history.value)
    more = await prompt.aio(
        "She wants her money back.",
        after=history,
        tools=[*history.tools, refund],
    )
    sum, reason = (
        await prompt.aio(
            "How much, and why?",
            fields={"sum": int, "reason": str},
            after=more,
            tools=more.tools,
        )
    ).fields
    letter = await prompt.aio("Write it to her.", after=sum)
    kind = (await prompt.aio("How was it?", after=letter)).value
    kept = await prompt.aio("Close it, with {refund}.", refund=refund)
    last = (await prompt.aio("Is it closed?", after=kept, tools=kept.tools)).value
    print(more.value, sum.value, reason.value, kind, last)

    print(await asked(refund, "Done?"))


if __name__ == "__main__":
    asyncio.run(main())
