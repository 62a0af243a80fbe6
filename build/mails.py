# Compiled by saftc from mails.saft; edit that file instead.

# A function for each row of a table: `saftc map mails.saft:triage mails/mails.csv out` sorts all
# 200 mails, as docs/scale.md tells. Run as a script, it sorts the first few.

from dataclasses import dataclass
from typing import Annotated, Literal

from runtime_support import check, prompt
from runtime_support.ops import read, show


@dataclass(frozen=True)
class Ticket:
    """What a mail is about."""

    category: Literal["billing", "bug", "question"]
    urgent: Annotated[bool, "whether somebody cannot work until this is answered"]
    summary: Annotated[str, "at most eight words"]


def triage(body: str) -> Ticket:
    """Reads one mail into a ticket."""
    return prompt(
        """
        Sort this mail into a ticket:

        {body:raw}
        """,
        body=body,
        returns=Ticket,
    ).value


def main() -> None:
    mails = read("mails/mails.csv").head(5).to_dicts()
    for mail in mails:
        ticket = triage(check(mail["body"], str))
        print(f"{show(mail['id'])}: {ticket.category}, {ticket.summary}")


if __name__ == "__main__":
    main()
