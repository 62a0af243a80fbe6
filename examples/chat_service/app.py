"""A chat as a web service: a page that shows what happens while the model writes and looks things
up, and sessions in a database.

    saftc build --async chat.saft -o chat.py
    uvicorn app:app
    curl -N localhost:8000/chat/ada -d "Where is my order A-17?"
"""

import json
import sqlite3
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path

import chat
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, StreamingResponse
from starlette.routing import Route

from runtime_support import PromptError, ReplyEnded


@cache
def sessions() -> sqlite3.Connection:
    """The database of the conversations, by the names of the sessions."""
    connection = sqlite3.connect("sessions.db", check_same_thread=False, isolation_level=None)
    connection.execute("create table if not exists chats (session text primary key, messages text)")
    return connection


def keep(session: str, messages: str) -> None:
    """Keeps the conversation of a session."""
    sessions().execute("insert or replace into chats values (?, ?)", [session, messages])


async def page(_: Request) -> FileResponse:
    """The page of the chat."""
    return FileResponse(Path(__file__).with_name("page.html"))


async def turn(request: Request) -> StreamingResponse:
    """Answers what was said in a session."""
    session, line = request.path_params["session"], (await request.body()).decode()
    row = sessions().execute("select messages from chats where session = ?", [session]).fetchone()
    earlier = [] if row is None else json.loads(row[0])
    # The messages have the system message of the script, which sets its own each time.
    reply = await chat.answer(line, earlier)

    async def events() -> AsyncIterator[str]:
        try:
            async for event in reply.events():
                if isinstance(event, ReplyEnded):
                    # Only what came to its end is kept: a browser that leaves ends the request.
                    keep(session, json.dumps(reply.messages))
                yield event.sse()
        except PromptError:
            yield "event: failed\ndata: {}\n\n"
            raise

    return StreamingResponse(events(), media_type="text/event-stream")


app = Starlette(
    routes=[Route("/", page), Route("/chat/{session}", turn, methods=["POST"])],
)
