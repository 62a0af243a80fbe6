# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, prompt, together

# about the prompt
x, y = together(
    later(prompt, "say hello"),  # trailing
    # before
    later(
        prompt,
        """
        // inside, it is text
        a number
        """,
        returns=int,
    ),  # after
)
# end
