# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

# the user
name, age = prompt("a user", fields={"name": str, "age": int}).value  # asked once
print(name, age)
