# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

(name,) = prompt("a name", fields={"name": str}).value
print(name + "!")
