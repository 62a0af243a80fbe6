# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import Any

from runtime_support import Result, check, prompt
from runtime_support.ops import parse, show, to_json


def double(x: int) -> int:
    return 2 * x


async def turn(line: str, history: list[Any]) -> list[Any]:
    r = await prompt.aio("{line:raw}", line=line, after=history, tools=[double])
    return r.messages


async def main() -> None:
    history = await prompt.aio(
        "Twice 3?",
        options={"system": "Be brief."},
        tools=[double],
    )
    written = to_json(history.messages)
    again: list[Any] = check(parse(written), list[Any])
    more = await prompt.aio(
        "And twice that?",
        options={"trust_system": True},
        after=again,
        tools=[double],
    )
    print(more.value, len(more.messages), show(more.messages[0]["role"]))
    any_ = parse(written)
    print(
        (
            await prompt.aio(
                "Hm?",
                options={"trust_system": True},
                after=check(any_, Result[Any] | list[Any]),
            )
        ).value
    )
    print(
        (
            await prompt.aio(
                "Hm?",
                after=[
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": "ho"},
                ],
            )
        ).value
    )
    chat: list[dict[str, Any]] = []
    for line in ["a", "b"]:
        reply = await prompt.aio("{line:raw}", line=line, after=chat, tools=[double])
        chat = reply.messages
    print(len(chat))
    print(show(await turn("x", [])))


if __name__ == "__main__":
    asyncio.run(main())
