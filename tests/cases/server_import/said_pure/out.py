# Compiled by saftc from in.saft; edit that file instead.
# What the project says changes nothing may run ahead; what it does not name waits for its turn.
from typing import Annotated, TypedDict

from runtime_support import later, prompt, together
from runtime_support.mcp import server

docs = server("docs", pure=["search"])


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


def about(topic: str) -> str:
    hits = search(topic, limit=3)
    return prompt("What is {topic}, by {hits}?", topic=topic, hits=hits).value


pipes, shells = together(
    later(about, "pipes"),
    later(about, "shells"),
)
start = fetch_page("https://docs.example/start")
end = prompt("Sum up {start}.", start=start).value
print(pipes, shells, end)
