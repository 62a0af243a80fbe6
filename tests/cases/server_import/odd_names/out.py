# Compiled by saftc from in.saft; edit that file instead.
from typing import Annotated, Any, TypedDict

from runtime_support.mcp import server
from runtime_support.ops import show

brave_search_server = server("brave-search")


def web_search(
    q: str,
    in_: str,
    max_results: int | None = None,
    class_: str | None = None,
    returns: bool = False,
) -> Any:
    return brave_search_server.call(
        "web-search",
        {"in": in_, "max-results": max_results, "class": class_, "returns": returns},
        q=q,
    )


def second() -> Any:
    """Says "hello" \\ and \"\"\"more\"\"\"."""
    return brave_search_server.call("2nd")


server_server = server("server")


class Hit(TypedDict):
    title: Annotated[str, "the heading"]
    url: str
    score: float | None


def search(
    query: Annotated[str, "a few words"],
    limit: Annotated[int, "minimum 1, maximum 50"] = 10,
) -> list[Hit]:
    """Searches the manual."""
    return server_server.call("search", query=query, limit=limit, returns=list[Hit])


brave_search = "mine"
print(brave_search, show(web_search("tea", in_="all", max_results=3)), show(second()))
print(search("tea")[0]["url"])
