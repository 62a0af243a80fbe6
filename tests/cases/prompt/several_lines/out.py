# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, prompt, together
from runtime_support.ops import show

verbs = ["build"]
x, y = together(
    later(
        prompt,
        """
        For each verb in {verbs}:
          - one
          - two

        Return a list.
        """,
        verbs=verbs,
        returns=list[str],
    ),
    later(
        prompt,
        """
        first line
          second line
        third line
        """,
    ),
)
print(show(x), y)
