# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import prompt


def spell(word: str) -> str:
    return "-".join(word.split())


async def opinion(topic: str) -> str:
    """Only asks: calls of it may run at the same time."""
    return (await prompt.aio("What do you think of {topic}?", topic=topic)).value


async def said(topic: str) -> str:
    """Asks, and prints in its turn."""
    answer = (await prompt.aio("Speak about {topic}.", topic=topic)).value
    print(answer)
    return answer


async def main() -> None:
    talk = await prompt.aio(
        "Compare tea and coffee.",
        tools=[spell, opinion, said],
        pure=[opinion],  # may be called at the same time
    )
    more = (
        await prompt.aio(
            "And milk, with {said}?",
            said=said,
            after=talk,
            tools=talk.tools,
            pure=[],
        )
    ).value
    print(
        talk.value,
        more,
        (await prompt.aio("And water, with {opinion}?", opinion=opinion)).value,
        (await prompt.aio("And {spell}?", spell=spell)).value,
    )


if __name__ == "__main__":
    asyncio.run(main())
