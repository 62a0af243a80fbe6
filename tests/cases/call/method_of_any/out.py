# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def report(client: Any, name: str) -> Any:
    session = ops.send(client, "session", "eu", retries=2)
    rows = ops.send(
        ops.call(ops.send(ops.member(session, "rows"), "all"), name),
        "sorted",
        "age",  # the oldest last
        reverse=True,
    )
    return ops.member(rows, "length")


def same(value: Any) -> Any:
    return value


shout = same({"say": ops.upper, "one": {"say": ops.lower}})
print(
    show(ops.send(shout, "say", "a")),
    show(ops.send(ops.member(shout, "one"), "say", "B")),
)
