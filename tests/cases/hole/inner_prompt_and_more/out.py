# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

# Behind an inner prompt its hole goes on, and behind the hole the text.
x = prompt(
    "Say {0} in French.",
    prompt("Is it late?", returns=bool).value and 1 > 0,
).value
y = prompt(
    "Of {0}, is {1} one?",
    [prompt("A fruit.").value, prompt("A tree.").value],
    prompt("A nut.").value in ["oak"],
).value
print(x, y)
