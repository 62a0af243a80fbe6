# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt, show

if prompt("Is it late?", returns=bool).value:
    print("it costs $5")
x = prompt("Say hello.", options={"model": "a$b"}).value
y = prompt("One.").value  # not $5
z = [prompt("One.").value, "$", prompt("Two.").value]
print(x, y, show(z))
