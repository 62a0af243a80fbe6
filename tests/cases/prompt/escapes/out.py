# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

name = "Ada"
a = prompt("costs 5$, in {{braces}} and a back\\slash for {name}", name=name).value
b = prompt('{{"id": {name}}}', name=name).value
c = prompt("a \"quoted\" word and 'single'").value
d = prompt("a \\n stays as it is").value
e = prompt("// not a comment").value
print(a, b, c, d, e)
