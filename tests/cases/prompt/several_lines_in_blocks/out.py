# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def review(diff: str, strict: bool) -> str:
    if strict:
        return prompt(
            """
            Review this diff strictly:
            {diff:raw}
            """,
            diff=diff,
        ).value
    for line in diff.split("\n"):
        note = prompt(
            """
            What does this line do?
            {line}
            """,
            line=line,
        ).value
        print(note)
    return prompt(
        """
        Summarize
        {diff}
        """,
        diff=diff,
    ).value.upper()


print(review("+ a", True))
