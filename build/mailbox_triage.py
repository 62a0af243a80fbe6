# Compiled by saftc from mailbox_triage.saft; edit that file instead.

# Triage of a mailbox folder: each mail gets a category, an urgency and a one-line summary, then
# the mails are sorted into queues. MAILBOX names another folder. The compiled module is run in
# this folder, too.

import os
from typing import Literal, TypedDict

from runtime_support import overlap, prompt
from runtime_support.ops import list_files, read_text

folder = os.environ.get("MAILBOX", "mailbox")


def header(mail: str, name: str) -> str:
    """The value of a header; the headers end at the first empty line."""
    for line in mail.split("\n"):
        if line == "":
            break
        if line.startswith(f"{name}: "):
            return line[len(name) + 2 :]
    return "(none)"


class Triage(TypedDict):
    category: Literal["billing", "bug", "question"]
    urgent: bool
    summary: str


def triage(mail: str) -> Triage:
    """Which queue a mail belongs to, how soon, and what it is about."""
    return prompt(
        """
        Sort this mail. It is urgent when work has stopped.
        Summarise it in at most eight words.

        {mail}
        """,
        mail=mail,
        returns=Triage,
    ).value


queues = {"billing": "accounting", "bug": "engineering", "question": "support"}


class Ticket(TypedDict):
    queue: str
    urgent: bool
    sender: str
    summary: str


tickets: list[Ticket] = []


def ask_path(path: str) -> tuple[str, Triage]:
    mail = read_text(path)
    verdict = triage(mail)
    return mail, verdict


for mail, verdict in overlap(ask_path, list_files(f"{folder}/*.txt")):
    tickets.append(
        {
            "queue": queues[verdict["category"]],
            "urgent": verdict["urgent"],
            "sender": header(mail, "From"),
            "summary": verdict["summary"],
        }
    )

for queue in queues.values():
    waiting = [ticket for ticket in tickets if ticket["queue"] == queue]
    print(f"{queue}: {len(waiting)}")

    # urgent mails first
    urgent = [ticket for ticket in waiting if ticket["urgent"]]
    for ticket in [*urgent, *[ticket for ticket in waiting if not ticket["urgent"]]]:
        mark = "!" if ticket["urgent"] else "-"
        print(f"  {mark} {ticket['sender']}: {ticket['summary']}")
