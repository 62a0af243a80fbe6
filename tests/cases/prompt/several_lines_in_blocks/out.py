# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import overlap, prompt


def review(diff: str, strict: bool) -> str:
    if strict:
        return prompt(
            """
            Review this diff strictly:
            {diff:raw}
            """,
            diff=diff,
        ).value

    def ask_line(line: str) -> str:
        note = prompt(
            """
            What does this line do?
            {line}
            """,
            line=line,
        ).value
        return note

    for note in overlap(ask_line, diff.split("\n")):
        print(note)
    return prompt(
        """
        Summarize
        {diff}
        """,
        diff=diff,
    ).value.upper()


print(review("+ a", True))
