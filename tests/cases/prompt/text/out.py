# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, prompt, together

x, y, empty = together(
    later(prompt, "say hello"),
    later(prompt, "say hello"),
    later(prompt, ""),
)
print(x + y + empty)
