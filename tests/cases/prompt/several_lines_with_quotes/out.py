# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, prompt, together

name = "Ada"
x, y = together(
    later(
        prompt,
        """
        \"\"\"quoted\"\"\" and "quoted" and {{braces}} and back\\slash
        {name} says "hi"
        """,
        name=name,
    ),
    later(
        prompt,
        """
        ends with a quote "
        really"
        """,
    ),
)
