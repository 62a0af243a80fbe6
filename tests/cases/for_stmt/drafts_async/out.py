# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from dataclasses import dataclass
from decimal import Decimal

from runtime_support import prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Line:
    what: str
    price: Decimal


@dataclass(frozen=True)
class Post:
    title: str
    tags: list[str]
    lines: list[Line]


async def main() -> None:
    async for draft in prompt.aio(
        "Write a post about foxes.", returns=Post, stream=True
    ).drafts():
        if draft["title"] is not None:
            print(draft["title"])
        for line in draft["lines"] if draft["lines"] is not None else []:
            print(line.price)

    rows_so_far = list[Line]()
    async for item in prompt.aio(
        "What is on the menu?", returns=list[Line], stream=True
    ).items():
        rows_so_far = [*rows_so_far, item]
        rows = rows_so_far
        print(len(rows))

    async for text in prompt.aio("Tell a story.", stream=True).drafts():
        print(text)

    menu = prompt.aio("What else?", returns=list[Line], stream=True)
    async for row in menu.items():
        print(row.what)
    print(len(menu.value), show(menu.usage))

    post = prompt.aio("Another one.", returns=Post, stream=True)
    async for draft in post.drafts():
        print(show(draft["title"]))
    print(post.value.title, post.finish)


if __name__ == "__main__":
    asyncio.run(main())
