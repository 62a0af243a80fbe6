# Compiled by saftc from classify.saft; edit that file instead.

# Classification with a reason: the label decides what happens, the reason is for people to read.

from typing import Literal

from runtime_support import overlap, prompt

tickets = [
    "The app crashes with an error when I log in",
    "Please add a dark mode",
    "How do I change my password?",
]

labels: list[str] = []


def ask_ticket(ticket: str) -> tuple[str, Literal["bug", "feature", "question"], str]:
    label, reason = prompt(
        "Sort the ticket {ticket}. Give the label and, in at most ten words, the reason for it.",
        ticket=ticket,
        fields={"label": Literal["bug", "feature", "question"], "reason": str},
    ).value
    return ticket, label, reason


for ticket, label, reason in overlap(ask_ticket, tickets):
    print(f"{label}: {ticket}")
    print(f"    because {reason}")
    labels.append(label)

print(f"{labels.count('bug')} to fix before the release")
