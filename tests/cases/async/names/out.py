# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import prompt

asyncio_ = "a name of the script"
main_ = "another"
await_ = 1


async def async_(prompt_: str) -> str:
    return (
        await prompt.aio(
            "{prompt} {asyncio}",
            prompt=prompt_,
            asyncio=asyncio_,
        )
    ).value


async def main() -> None:
    in_thread = (await prompt.aio("A word.")).value
    print(asyncio_, main_, await_, in_thread, await async_("x"))


if __name__ == "__main__":
    asyncio.run(main())
