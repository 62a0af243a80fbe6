# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

name = "Ann"
person = {"age": 3}
print("Hello {name}, {person.age}")
print("Hello {nobody}, {1}, {}")
template = "{person}"
print(template.replace("{person}", name))
print("{person.age}")
print(prompt("Hello {name}", name=name).value)
