# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import Any

from runtime_support import AsyncResult, Result, prompt


def find_orders(customer: str) -> list[int]:
    return [17, 18]


async def begin(line: str) -> Result[Any]:
    return await prompt.aio("{line:raw}", line=line, tools=[find_orders])


async def told(topic: str) -> AsyncResult[str]:
    """Await the call, then loop over the `pieces()` of what it gives, or await that, too."""
    return prompt.aio(
        "Tell a story about a {topic:raw}.",
        topic=topic,
        stream=True,
        tools=[find_orders],
    )


async def main() -> None:
    chat = await begin("Hello.")
    more = (await prompt.aio("And then?", after=chat, tools=chat.tools)).value
    print(chat.text, more)

    story = await told("goose")
    async for piece in story.pieces():
        print(piece, end="", flush=True)
    print(story.finish)
    title = (await prompt.aio("Give it a title.", after=story, tools=story.tools)).value
    print(title)


if __name__ == "__main__":
    asyncio.run(main())
