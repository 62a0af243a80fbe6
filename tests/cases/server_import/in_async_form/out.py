# Compiled by saftc from in.saft; edit that file instead. This is the async form.
# What the manual says.
import asyncio
from typing import Annotated, TypedDict

from runtime_support import prompt
from runtime_support.mcp import server
from runtime_support.ops import show

docs = server("docs")


class Hit(TypedDict):
    title: Annotated[str, "the heading"]
    url: str
    score: float | None


async def search(
    query: Annotated[str, "a few words"],
    limit: Annotated[int, "minimum 1, maximum 50"] = 10,
) -> list[Hit]:
    """Searches the manual."""
    return await docs.acall("search", query=query, limit=limit, returns=list[Hit])


async def page_at(url: str) -> str:
    """Gives a page of the manual,
    as Markdown.
    """
    return await docs.acall("fetch_page", url=url, returns=str)


topic = "pipes"


async def main() -> None:
    answer = (
        await prompt.aio(
            "What does the manual say of {topic}? Use {search} and {page_at}.",
            topic=topic,
            search=search,
            page_at=page_at,
            pure=[],
        )
    ).value
    start = await page_at(url="https://docs.example/start")
    for hit in await search(topic, limit=3):
        print(hit["title"], show(hit["score"]), len(start))
    print(answer)


if __name__ == "__main__":
    asyncio.run(main())
