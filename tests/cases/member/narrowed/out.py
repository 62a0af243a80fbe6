# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict


class Ticket(TypedDict):
    title: str
    reply_by: str | None


ticket: Ticket = {"title": "a", "reply_by": None}
if ticket["reply_by"] is not None:
    print(ticket["title"] + " by " + ticket["reply_by"])
while ticket["reply_by"] is None:
    ticket = {"title": "b", "reply_by": "now"}
