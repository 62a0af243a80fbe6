# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

class_, value = prompt("a class", fields={"class": str, "value": int}).value
print(class_, value)
