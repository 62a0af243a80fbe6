# Compiled by saftc from in.saft; edit that file instead.
from collections.abc import Callable

from runtime_support import Result, check, prompt
from runtime_support.ops import show


def asked(question: str) -> Result[str]:
    return prompt("{question}", question=question)


def changed(text: str, change: Callable[[str], str]) -> str:
    return change(text) + "!"


answer = asked("Why?")
print(show(answer.tool_calls), changed("It is so.", check(asked, Callable[[str], str])))
