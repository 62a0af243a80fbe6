"""What the chat may look up; each waits, so calls of one reply run at the same time."""

import asyncio

SENT = {"A-17": "sent on Monday", "A-18": "paid, and not sent yet"}
ARRIVAL = {"A-17": "Thursday"}


async def find_order(order: str) -> str:
    """What has become of an order, by its number."""
    await asyncio.sleep(0)  # a request to a service would stand here
    if order not in SENT:
        raise LookupError(f"there is no order {order}")
    return SENT[order]


async def find_arrival(order: str) -> str | None:
    """The day on which an order that was sent is to arrive."""
    await asyncio.sleep(0)
    return ARRIVAL.get(order)
