# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt, show

verbs = ["build"]
x = prompt(
    """
    For each verb in {verbs}:
      - one
      - two

    Return a list.
    """,
    verbs=verbs,
    returns=list[str],
).value
y = prompt(
    """
    first line
      second line
    third line
    """,
).value
print(show(x), y)
