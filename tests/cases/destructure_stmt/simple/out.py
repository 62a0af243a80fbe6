# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

name, age = prompt(
    "get user info for {0}",
    "Alice",
    fields={"name": str, "age": int},
).value
print(name, age + 1)
