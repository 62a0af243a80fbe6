# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import Any

from runtime_support import AsyncResult, prompt


def look(name: str) -> str:
    return name.upper()


async def answer(line: str, history: list[Any]) -> AsyncResult[str]:
    """Await the call, then loop over the `pieces()` of what it gives, or await that, too."""
    return prompt.aio("{line:raw}", line=line, stream=True, after=history, tools=[look])


async def told(topic: str) -> AsyncResult[str]:
    """What the model says, as it comes.

    Await the call, then loop over the `pieces()` of what it gives, or await that, too.
    """
    return prompt.aio("Tell me about {topic}.", topic=topic, stream=True)


async def passed(topic: str) -> AsyncResult[str]:
    """Await the call, then loop over the `pieces()` of what it gives, or await that, too."""
    return await told(topic)


async def whole(topic: str) -> str:
    return (await prompt.aio("Tell me about {topic}.", topic=topic)).value


async def main() -> None:
    chat: list[Any] = []
    for line in ["a", "b"]:
        reply = prompt.aio(
            "{line:raw}",
            line=line,
            stream=True,
            after=chat,
            tools=[look],
        )
        async for piece in reply.pieces():
            print(piece, end="", flush=True)
        print()
        chat = reply.messages
    print(len(chat))
    async for piece in (await answer("c", chat)).pieces():
        print(piece, end="", flush=True)
    print()
    print("|".join([p async for p in (await answer("d", [])).pieces()]))

    story = prompt.aio("A story.", stream=True)
    async for piece in story.pieces():
        print(piece, end="", flush=True)
    more = (await prompt.aio("And then?", after=story)).value
    print(story.value, story.finish, more, (await whole("tea")).upper())
    async for piece in (await passed("milk")).pieces():
        print(piece, end="", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
