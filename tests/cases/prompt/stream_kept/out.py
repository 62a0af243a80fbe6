# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, prompt


def look(name: str) -> str:
    return name.upper()


def answer(line: str, history: list[Any]) -> Result[str]:
    return prompt("{line:raw}", line=line, stream=True, after=history, tools=[look])


chat: list[Any] = []
for line in ["a", "b"]:
    reply = prompt("{line:raw}", line=line, stream=True, after=chat, tools=[look])
    for piece in reply.pieces():
        print(piece, end="", flush=True)
    print()
    chat = reply.messages
print(len(chat))
for piece in answer("c", chat).pieces():
    print(piece, end="", flush=True)
print()
print("|".join(p for p in answer("d", []).pieces()))


def told(topic: str) -> Result[str]:
    """What the model says, as it comes."""
    return prompt("Tell me about {topic}.", topic=topic, stream=True)


def passed(topic: str) -> Result[str]:
    return told(topic)


def whole(topic: str) -> str:
    return prompt("Tell me about {topic}.", topic=topic).value


story = prompt("A story.", stream=True)
for piece in story.pieces():
    print(piece, end="", flush=True)
more = prompt("And then?", after=story).value
print(story.value, story.finish, more, whole("tea").upper())
for piece in passed("milk").pieces():
    print(piece, end="", flush=True)
