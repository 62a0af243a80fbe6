"""The openai package as one would use it by hand: `create`, `parse`, and a tool loop."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

import openai
from pydantic import BaseModel
from worker import serve

URL = sys.argv[1]


def client(path: str) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=f"{URL}/{path}/v1")


class Person(BaseModel):
    name: str
    age: int
    tags: list[str]
    email: str | None


def temperature(city: str) -> float:
    return 3.5


TOOL = {
    "type": "function",
    "function": {
        "name": "temperature",
        "description": "Current temperature in a city, in degrees Celsius.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
texts, objects, toolers, lates = map(client, ("text", "object", "tools", "late"))
busies, tellers, streams, piecewise = map(client, ("busy", "telling", "stream", "pieces"))
awaiting: openai.AsyncOpenAI | None = None
ASKED = [{"role": "user", "content": 'Describe "Oslo".'}]


def text() -> str | None:
    done = texts.chat.completions.create(model="fake", messages=ASKED)
    return done.choices[0].message.content


def result() -> object:
    asked = [{"role": "user", "content": 'Describe "Ada".'}]
    return objects.chat.completions.parse(model="fake", messages=asked, response_format=Person)


def object_() -> Person | None:
    return result().choices[0].message.parsed


def tools() -> str | None:
    messages = [{"role": "user", "content": "How is Oslo? Use temperature."}]
    while True:
        done = toolers.chat.completions.create(model="fake", messages=messages, tools=[TOOL])
        message = done.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = temperature(**json.loads(call.function.arguments))
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}
            )


def late() -> str | None:
    done = lates.chat.completions.create(model="fake", messages=ASKED)
    return done.choices[0].message.content


async def awaited() -> str | None:
    global awaiting
    awaiting = awaiting or openai.AsyncOpenAI(
        api_key="none", base_url=f"{URL}/late/v1", timeout=120
    )
    done = await awaiting.chat.completions.create(model="fake", messages=ASKED)
    return done.choices[0].message.content


def busy() -> str | None:
    return busies.chat.completions.create(model="fake", messages=ASKED).choices[0].message.content


def telling() -> str | None:
    return tellers.chat.completions.create(model="fake", messages=ASKED).choices[0].message.content


def streamed(asked: openai.OpenAI) -> Iterator[str]:
    with asked.chat.completions.create(model="fake", messages=ASKED, stream=True) as chunks:
        for chunk in chunks:
            piece = chunk.choices[0].delta.content if chunk.choices else None
            if piece:
                yield piece


def stream() -> float:
    lag = None
    for piece in streamed(streams):
        lag = lag or (time.monotonic_ns() - int(piece)) / 1e9
    return lag


def pieces() -> int:
    return sum(1 for _ in streamed(piecewise))


assert pieces() == 1000
assert text() == tools() == "Oslo is cold and bright."
assert object_().age == 36
cases = {"text": text, "object": object_, "tools": tools, "late": late, "result": result}
cases |= {"busy": busy, "telling": telling, "stream": stream, "pieces": pieces}
serve({**cases, "awaited": awaited})
