# Compiled by saftc from support_desk.saft; edit that file instead.
"""A support desk: mails become tickets, tickets become a plan for the day."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from runtime_support import overlap, prompt
from runtime_support.ops import kind, print  # print keeps the order

Severity = Literal["low", "medium", "high"]


@dataclass(frozen=True)
class Ticket:
    """One support ticket, as read from a mail."""

    title: Annotated[str, "at most eight words"]
    severity: Severity
    tags: list[str]
    reply_by: Annotated[str | None, "a date, YYYY-MM-DD, if the mail names one"] = None


@dataclass(frozen=True)
class Case:
    """A ticket with those that came of it."""

    ticket: Ticket
    follow_ups: "list[Case]" = field(default_factory=list["Case"])


def triage(mail: str) -> Ticket:
    """Reads one mail into a ticket."""
    return prompt(
        """
        Read this mail and fill in a ticket:
        {mail}
        """,
        mail=mail,
        returns=Ticket,
    ).value


def size(case: Case) -> int:
    """How many tickets a case has, with its follow-ups."""
    return 1 + sum(size(follow_up) for follow_up in case.follow_ups)


def line(ticket: Ticket, mark: str = "-", width: int = 40) -> str:
    """One line for the list on the wall."""
    title = (
        ticket.title if len(ticket.title) <= width else f"{ticket.title[:width - 3]}..."
    )
    return f"{mark} {title} [{ticket.severity}]"


def main() -> None:
    mails = [
        "Subject: Wrong address on our invoice\n\nPlease send a new invoice by 2025-03-14.",
        "Subject: The server is on fire and nobody can reach any of our shops\n\nHelp!",
    ]
    tickets = list(overlap(triage, mails))

    def ask_ticket(ticket: Ticket) -> None:
        mark = "!" if ticket.severity == "high" else "-"
        print(line(ticket, mark=mark))
        if ticket.reply_by is not None:
            print(f"  reply by {ticket.reply_by}")
        if prompt("Is {title} about money?", title=ticket.title, returns=bool).value:
            print("  to accounting")

    overlap(ask_ticket, tickets).run()

    # a record is made by a call, with the fields that have a default left out
    reminder = Ticket("Ask whether all is well", "low", tags=[], reply_by=None)
    case = Case(tickets[0], follow_ups=[Case(reminder), Case(reminder)])
    print(f"{size(case)} tickets in the first case, of type {kind(case)}")
    print(line(case.follow_ups[0].ticket, width=20))
    if case.follow_ups[0] != case.follow_ups[1]:
        raise AssertionError


if __name__ == "__main__":
    main()
