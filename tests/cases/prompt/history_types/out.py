# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ToolCall, Usage, prompt
from runtime_support.ops import show


def add(a: int, b: int) -> int:
    return a + b


def calls() -> list[ToolCall]:
    answer = prompt("What is 2 + 2? Use {add}.", add=add, returns=int)
    return answer.tool_calls


def used() -> Usage:
    answer = prompt("What is 2 + 2?")
    return answer.usage


for made in calls():
    print(made.tool, show(made.args))
print(used().requests)
