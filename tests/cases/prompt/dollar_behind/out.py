# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, prompt, together
from runtime_support.ops import show

if prompt("Is it late?", returns=bool).value:
    print("it costs $5")
x, y = together(
    later(prompt, "Say hello.", options={"model": "a$b"}),
    later(prompt, "One."),  # not $5
)
z = [prompt("One.").value, "$", prompt("Two.").value]
print(x, y, show(z))
