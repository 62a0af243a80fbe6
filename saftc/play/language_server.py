"""A language server for the page: the messages of `saftc lsp`, one in each of a websocket's."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process

from starlette.websockets import WebSocket, WebSocketDisconnect


async def speak(page: WebSocket) -> None:
    """Has a page and a language server of its own talk, until one of them ends."""
    await page.accept()
    # `-P`: no module beside the script takes the place of one that saftc needs.
    command = [sys.executable, "-P", "-m", "saftc", "lsp"]
    server = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    answering = asyncio.create_task(_answer(page, server))
    try:
        while True:
            data = (await heard(page)).encode()
            assert server.stdin is not None
            server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
            await server.stdin.drain()
    except (WebSocketDisconnect, ConnectionError, RuntimeError):
        pass  # the page was closed, or the server has ended
    finally:
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        if server.returncode is None:
            server.kill()
        await server.wait()


async def heard(page: WebSocket) -> str:
    """The next text that a page sends; other messages are passed over. WebSocketDisconnect when it
    is closed."""
    while (message := await page.receive())["type"] != "websocket.disconnect":
        if text := message.get("text"):
            return str(text)
    raise WebSocketDisconnect(message["code"])


async def _answer(page: WebSocket, server: Process) -> None:
    """Hands on what the server says; the page is notified when that ends."""
    output = server.stdout
    assert output is not None
    while True:
        size = 0
        while line := (await output.readline()).strip():
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        if not size:
            await page.close(1011)
            return
        await page.send_text((await output.readexactly(size)).decode())
