# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.mcp import server
from runtime_support.ops import show

docs = server("docs")


def dashed() -> Any:
    return docs.call("get-page")


def underscored() -> Any:
    return docs.call("get_page")


print(show(dashed()), show(underscored()))
