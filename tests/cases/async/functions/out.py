# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import Any

from runtime_support import Result, overlap, prompt
from runtime_support.ops import show


# A function waits when something in its own body does.
async def ask(text: str) -> Result[str]:
    return await prompt.aio("{text}", text=text)


async def passed_on(text: str) -> Result[str]:
    answer = await ask(text)
    return answer


async def even(n: int) -> bool:
    if n == 0:
        return True
    return await odd(n - 1)


async def odd(n: int) -> bool:
    if n == 0:
        return (await prompt.aio("Is zero odd?", returns=bool)).value
    return await even(n - 1)


async def outer(words: list[str]) -> list[str]:
    # a tool and a helper, inside
    async def look_up(word: str) -> str:
        return (await ask(word)).value

    def mark(word: str) -> str:
        return word + "!"

    async def ask_word(word: str) -> str:
        return await look_up(mark(word))

    return await overlap.aio(ask_word, words)


def hands_out() -> Any:
    async def inner() -> str:
        return (await prompt.aio("Say something.")).value

    return inner


async def default_asks(n: int) -> str:
    def inner(
        seed: int = (await prompt.aio("Pick a number.", returns=int)).value
    ) -> int:
        return seed + n

    return str(inner())


def plain(x: int) -> int:
    return x + 1


async def described(n: int) -> str:
    return (await prompt.aio("Describe {n}.", n=n)).value


async def main() -> None:
    speak = hands_out()
    print(
        (await passed_on("a")).usage.requests,
        (await ask("b")).value,
        show(await even(4)),
        show(await outer(["c"])),
        await speak(),
        await default_asks(1),
    )
    print(plain(2), await described(3))


if __name__ == "__main__":
    asyncio.run(main())
