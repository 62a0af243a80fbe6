# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, prompt
from runtime_support.ops import show

from helpers import turn


def start() -> Result[Any]:
    return prompt("Say hello.")


# A name that is bound to prompts and to a Result holds a Result.
chat = prompt("Hello", options={"system": "Be brief."})
for line in ["Who am I?", "Bye"]:
    chat = turn(chat, line)
print(show(chat), len(chat.messages))


def all_of(lines: list[str], before: Result[Any]) -> str:
    talk = prompt("Begin.")
    for line in lines:
        if line == "again":
            talk = prompt("Start over.")
        elif line == "back":
            talk = before
        else:
            talk = turn(talk, line)
    return talk.text


print(all_of(["a", "again", "back"], start()))

# One after the other, the first is text.
answer: str | Result[Any]
answer = prompt("One word.").value
print(answer.upper())
answer = start()
print(answer.usage.requests)
