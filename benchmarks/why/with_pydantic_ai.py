import asyncio
from typing import Literal

from mails import MAILS
from pydantic import BaseModel, field_validator
from pydantic_ai import Agent


class Ticket(BaseModel):
    title: str
    topic: Literal["billing", "bug", "other"]

    @field_validator("title")
    @classmethod
    def is_short(cls, title: str) -> str:
        if len(title) > 40:
            raise ValueError("the title has at most 40 characters")
        return title


agent = Agent("openai-chat:gpt-4o-mini", output_type=Ticket)


async def triage(mail: str) -> Ticket:
    return (await agent.run(f"Sort this support mail: {mail}")).output


async def main() -> None:
    for ticket in await asyncio.gather(*map(triage, MAILS)):
        print(ticket.topic, "|", ticket.title)


asyncio.run(main())
