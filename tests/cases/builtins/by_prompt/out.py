# Compiled by saftc from in.saft; edit that file instead.

# a function that keeps the history of its prompt gives the runtime its value

from runtime_support import Result, ops, prompt
from runtime_support.ops import show


def rank(note: str) -> Result[str]:
    answer = prompt("How good is {note}?", note=note)
    return answer


first = rank("a")
print(first.usage.requests, show(ops.sorted(["a", "b"], by=rank)))
