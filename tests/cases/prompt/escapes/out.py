# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, prompt, together

name = "Ada"
a, b, c, d, e = together(
    later(prompt, "costs 5$, in {{braces}} and a back\\slash for {name}", name=name),
    later(prompt, '{{"id": {name}}}', name=name),
    later(prompt, "a \"quoted\" word and 'single'"),
    later(prompt, "a \\n stays as it is"),
    later(prompt, "// not a comment"),
)
print(a, b, c, d, e)
