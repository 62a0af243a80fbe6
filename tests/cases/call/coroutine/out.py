# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import in_loop, ops
from runtime_support.ops import show

from web import anything, client, fetch, parts, perhaps, size


def title_of(url: str) -> str:
    return in_loop(fetch(url)).upper()


def called(function: Any) -> Any:
    return ops.call(function, "b")


page = in_loop(fetch("http://a"))
print(
    len(page),
    title_of("a"),
    in_loop(size("a")) + 1,
    len(in_loop(parts("a"))),
    show(in_loop(perhaps("a"))),
)
print(
    in_loop(client().get("a")),
    show(ops.send(anything(), "get", "a")),
    show(called(fetch)),
)
print(show([in_loop(fetch(url)) for url in ["a", "b"]]))
