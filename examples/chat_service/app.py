"""A chat as a web service: sessions in a database, the answer sent while the model writes it.

    saftc build --async chat.saft -o chat.py
    uvicorn app:app
    curl -N localhost:8000/chat/ada -d "Is it warmer in Oslo or in Cairo?"
"""

import json
import sqlite3
from collections.abc import AsyncIterator
from functools import cache

import chat
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route


@cache
def sessions() -> sqlite3.Connection:
    """The database of the conversations, by the names of the sessions."""
    connection = sqlite3.connect("sessions.db", check_same_thread=False, isolation_level=None)
    connection.execute("create table if not exists chats (session text primary key, messages text)")
    return connection


async def turn(request: Request) -> StreamingResponse:
    """Answers what was said in a session."""
    session, line = request.path_params["session"], (await request.body()).decode()
    row = sessions().execute("select messages from chats where session = ?", [session]).fetchone()
    earlier = [] if row is None else json.loads(row[0])
    # The messages have the system message of the script, which sets its own each time.
    reply = await chat.answer(line, earlier)

    async def pieces() -> AsyncIterator[str]:
        async for piece in reply.pieces():
            yield piece
        # Only what came to its end is kept: a browser that leaves ends the request.
        kept = json.dumps(reply.messages)
        sessions().execute("insert or replace into chats values (?, ?)", [session, kept])

    return StreamingResponse(pieces(), media_type="text/plain")


app = Starlette(routes=[Route("/chat/{session}", turn, methods=["POST"])])
