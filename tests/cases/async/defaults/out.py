# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import prompt

style = "plain"


def before(text: str, how: str = style) -> str:
    return text + how


def steady(text: str, how: str = "fixed") -> str:
    return text + how


def uses(text: str) -> str:
    return after_it(text) + asks_once(text)


async def main() -> None:
    global style, after_it, asks_once
    style = (await prompt.aio("Name a style.")).value

    # its default is what the prompt gave
    def after_it(text: str, how: str = style) -> str:
        return text + how

    def asks_once(text: str, how: str = (await prompt.aio("How?")).value) -> str:
        return text + how

    print(before("a"), steady("b"), uses("c"))


if __name__ == "__main__":
    asyncio.run(main())
