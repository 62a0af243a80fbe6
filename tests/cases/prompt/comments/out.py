# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

# about the prompt
x = prompt("say hello").value  # trailing
# before
y = prompt(
    """
    // inside, it is text
    a number
    """,
    returns=int,
).value  # after
# end
