# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, check, overlap, prompt
from runtime_support.ops import parse, print, to_json  # print keeps the order


def look_up(a: str) -> str:
    return a


def with_(a: int) -> int:
    return a


chat = prompt("a")
more = prompt(
    "b",
    after=check(parse(to_json(chat.messages)), Result[Any] | list[Any]),
    tools=[look_up],
).value
print(more, prompt("c", after=chat.messages[0:2], tools=[look_up]).value)


def ask_row(row: int) -> None:
    print(prompt("d", after=chat.messages, tools=[look_up]).value, with_(row))


overlap(ask_row, [1, 2]).run()
