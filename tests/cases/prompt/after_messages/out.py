# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, check, prompt
from runtime_support.ops import parse, show, to_json


def double(x: int) -> int:
    return 2 * x


history = prompt("Twice 3?", options={"system": "Be brief."}, tools=[double])
written = to_json(history.messages)
again: list[Any] = check(parse(written), list[Any])
more = prompt(
    "And twice that?",
    options={"trust_system": True},
    after=again,
    tools=[double],
)
print(more.value, len(more.messages), show(more.messages[0]["role"]))
any_ = parse(written)
print(
    prompt(
        "Hm?",
        options={"trust_system": True},
        after=check(any_, Result[Any] | list[Any]),
    ).value
)
print(
    prompt(
        "Hm?",
        after=[
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "ho"},
        ],
    ).value
)
chat: list[dict[str, Any]] = []
for line in ["a", "b"]:
    reply = prompt("{line:raw}", line=line, after=chat, tools=[double])
    chat = reply.messages
print(len(chat))


def turn(line: str, history: list[Any]) -> list[Any]:
    r = prompt("{line:raw}", line=line, after=history, tools=[double])
    return r.messages


print(show(turn("x", [])))
