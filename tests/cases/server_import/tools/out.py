# Compiled by saftc from in.saft; edit that file instead.
# What the manual says.
from typing import Annotated, TypedDict

from runtime_support import prompt
from runtime_support.mcp import server
from runtime_support.ops import show

docs = server("docs")


class Hit(TypedDict):
    title: Annotated[str, "the heading"]
    url: str
    score: float | None


def search(
    query: Annotated[str, "a few words"],
    limit: Annotated[int, "minimum 1, maximum 50"] = 10,
) -> list[Hit]:
    """Searches the manual."""
    return docs.call("search", query=query, limit=limit, returns=list[Hit])


def page_at(url: str) -> str:
    """Gives a page of the manual,
    as Markdown.
    """
    return docs.call("fetch_page", url=url, returns=str)


topic = "pipes"
answer = prompt(
    "What does the manual say of {topic}? Use {search} and {page_at}.",
    topic=topic,
    search=search,
    page_at=page_at,
).value
start = page_at(url="https://docs.example/start")
for hit in search(topic, limit=3):
    print(hit["title"], show(hit["score"]), len(start))
print(answer)
