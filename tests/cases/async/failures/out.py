# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import Failed, prompt
from runtime_support.ops import failure


async def careful(text: str) -> str:
    try:
        return (await prompt.aio("Sum up {text}.", text=text)).value
    except Exception as exception:
        error = failure(exception)
        if error.kind == "contract":
            raise
        return "nothing, because of " + error.message


async def main() -> None:
    try:
        print(await careful("a"))
        raise Failed((await prompt.aio("Say why.")).value)
    except Exception:
        print(await careful("b"))


if __name__ == "__main__":
    asyncio.run(main())
