# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Result, overlap, prompt
from runtime_support.ops import show


# What a turn of the loop begins with, the prompt in it replaces: its history can be asked.
def add(a: int) -> int:
    return a + 1


answer: Result[str] | str
answer = prompt("What is one more than 2? Use {add}.", add=add)
print(answer.value, len(answer.tool_calls))
answer = answer.value + "!"
print(answer)


def ask_n(n: int) -> Result[str]:
    answer = prompt("Name a colour.")
    return answer


for answer in overlap(ask_n, range(2)):
    print(show(answer.tool_calls))
    answer = answer.value.upper()
print(answer)
