# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import prompt


def main_() -> None:
    print(topic)


topic: str


async def main() -> None:
    global topic
    topic = (await prompt.aio("Name a topic.")).value
    main_()


if __name__ == "__main__":
    asyncio.run(main())
