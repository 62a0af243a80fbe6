# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, prompt


def find_orders(customer: str) -> list[int]:
    return [17, 18]


def begin(line: str) -> Result[Any]:
    return prompt("{line:raw}", line=line, tools=[find_orders])


def told(topic: str) -> Result[str]:
    return prompt(
        "Tell a story about a {topic:raw}.",
        topic=topic,
        stream=True,
        tools=[find_orders],
    )


chat = begin("Hello.")
more = prompt("And then?", after=chat, tools=chat.tools).value
print(chat.text, more)

story = told("goose")
for piece in story.pieces():
    print(piece, end="", flush=True)
print(story.finish)
title = prompt("Give it a title.", after=story, tools=story.tools).value
print(title)
