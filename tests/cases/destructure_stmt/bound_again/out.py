# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Result, prompt
from runtime_support.ops import show

name: Result[str] | str
name = "plain"
print(name)
name, age = prompt("x", fields={"name": str, "age": int}).fields
print(show(name.tool_calls), age.value)
name = "again"
print(name)
