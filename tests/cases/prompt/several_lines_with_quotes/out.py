# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

name = "Ada"
x = prompt(
    """
    \"\"\"quoted\"\"\" and "quoted" and {{braces}} and back\\slash
    {name} says "hi"
    """,
    name=name,
).value
y = prompt(
    """
    ends with a quote "
    really"
    """,
).value
