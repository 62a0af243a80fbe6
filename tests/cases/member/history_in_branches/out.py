# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt
from runtime_support.ops import show

flag = True
if flag:
    answer = prompt("one")
else:
    answer = prompt("two")
print(show(answer.tool_calls), answer.value)
