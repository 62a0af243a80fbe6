# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, prompt


def look(name: str) -> str:
    return name


def turn(line: str, earlier: Result[Any]) -> str:
    return prompt("{line:raw}", line=line, after=earlier).value


def named(line: str, earlier: Result[Any]) -> str:
    return prompt("{line:raw}", line=line, after=earlier, tools=[look]).value


def closed(earlier: Result[Any]) -> str:
    return prompt("Sum it up.", after=earlier).value


first = prompt("Look with {look}.", look=look)
print(turn("And now?", first), named("And?", first), closed(first))
all: list[Result[Any]] = [first]
print(
    prompt("And now?", after=all[0]).value,
    prompt("And?", after=prompt("What is there?")).value,
    prompt("Or?", after=prompt("Ask {look}.", look=look)).value,
)
print(
    prompt("Or", after=[]).value,
    prompt(
        "One more",
        after=[
            {"role": "user", "content": "An example."},
            {"role": "assistant", "content": "Yes."},
        ],
    ).value,
)
print(prompt("And", after=[{"role": "user", "content": "Hi"}, *first.messages]).value)
