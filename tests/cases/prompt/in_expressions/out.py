# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops, prompt
from runtime_support.ops import show

name = "Ada"
print(
    prompt("greet {name}", name=name).value + "!",
    len(prompt("greet {name}", name=name).value),
    show([prompt("a").value, prompt("b").value]),
    prompt("c").value.upper(),
    show({"a": prompt("d").value}),
)
if prompt("a word").value == "yes":
    print("yes")
for word in prompt("three words").value.split():
    print(word)
x = prompt("a name").value
y = ops.index(prompt("a text").data, 0)
z = len(prompt("a text").value)
