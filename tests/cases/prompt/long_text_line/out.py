# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def describe(subject: str) -> str:
    return prompt(
        """
        Describe {subject} in one long line that goes on and on and is longer than what fits on a line of the output.
        Then stop.
        """,
        subject=subject,
    ).value


print(describe("a cat"))
