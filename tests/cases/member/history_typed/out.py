# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

n = prompt("a number", returns=int)
print(n.value + 1, n.value + 1, n.text, len(n.tool_calls))
