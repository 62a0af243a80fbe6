# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import prompt


async def main_() -> None:
    print((await prompt.aio("Write about {topic}.", topic=topic)).value)


topic: str


async def main() -> None:
    global topic
    topic = (await prompt.aio("Name a topic.")).value
    await main_()


if __name__ == "__main__":
    asyncio.run(main())
