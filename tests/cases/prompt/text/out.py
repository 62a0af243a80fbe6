# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

x = prompt("say hello").value
y = prompt("say hello").value
empty = prompt("").value
print(x + y + empty)
