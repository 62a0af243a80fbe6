import asyncio

from baml_client.async_client import b
from baml_client.types import Ticket
from baml_py.errors import BamlValidationError
from mails import MAILS


async def triage(mail: str) -> Ticket:
    try:
        return await b.Triage(mail)
    except BamlValidationError:
        return await b.Triage(mail)


async def main() -> None:
    for ticket in await asyncio.gather(*map(triage, MAILS)):
        print(ticket.topic, "|", ticket.title)


asyncio.run(main())
