# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, prompt

story = prompt("Tell a story.", options={"on_truncated": "accept", "max_tokens": 200})
if story.finish == "length":
    print(story.value, "(cut)")


def ended(result: Result[Any]) -> str:
    return result.finish


print(ended(story))
