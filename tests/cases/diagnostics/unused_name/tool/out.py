# Compiled by saftc from in.saft; edit that file instead.
from typing import Annotated, TypedDict

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


def fetch_page(url: str) -> str:
    """Gives a page of the manual,
    as Markdown.
    """
    return docs.call("fetch_page", url=url, returns=str)


print(show(search("pipes")))
