import asyncio
from typing import Literal

import instructor
from mails import MAILS
from pydantic import BaseModel, field_validator


class Ticket(BaseModel):
    title: str
    topic: Literal["billing", "bug", "other"]

    @field_validator("title")
    @classmethod
    def is_short(cls, title: str) -> str:
        if len(title) > 40:
            raise ValueError("the title has at most 40 characters")
        return title


client = instructor.from_provider("openai/gpt-4o-mini", async_client=True)


async def triage(mail: str) -> Ticket:
    message = {"role": "user", "content": f"Sort this support mail: {mail}"}
    return await client.create(response_model=Ticket, messages=[message], max_retries=2)


async def main() -> None:
    for ticket in await asyncio.gather(*map(triage, MAILS)):
        print(ticket.topic, "|", ticket.title)


asyncio.run(main())
