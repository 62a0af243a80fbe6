# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import prompt


async def tell(topic: str) -> None:
    async for piece in prompt.aio(
        "Tell a story about {topic}.", topic=topic, stream=True
    ).pieces():
        print(piece, end="", flush=True)
        if piece == ".":
            break
    print()


async def main() -> None:
    async for part in prompt.aio(
        "And a shorter one, which has to do with nothing that has been said in the first of them.",
        stream=True,
    ).pieces():
        print(part, end="", flush=True)
    print()
    await tell("foxes")
    pieces = [
        piece.upper() async for piece in prompt.aio("One more.", stream=True).pieces()
    ]
    story = (await prompt.aio("The last one.")).value
    print(len(pieces), story)


if __name__ == "__main__":
    asyncio.run(main())
