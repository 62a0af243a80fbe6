"""Connects the page to `saftc lsp`: forwards messages between websocket and language server."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process

from starlette.websockets import WebSocket, WebSocketDisconnect


async def speak(page: WebSocket) -> None:
    """Starts a language server for a page. Forwards messages between the two until one ends."""
    await page.accept()
    # `-P`: no module beside the script can replace one that saftc needs.
    command = [sys.executable, "-P", "-m", "saftc", "lsp"]
    server = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    answering = asyncio.create_task(_answer(page, server))
    try:
        while True:
            data = (await receive(page)).encode()
            assert server.stdin is not None
            server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
            await server.stdin.drain()
    except (WebSocketDisconnect, ConnectionError, RuntimeError):
        pass  # the page was closed, or the server ended
    finally:
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        if server.returncode is None:
            server.kill()
        await server.wait()


async def receive(page: WebSocket) -> str:
    """The next text message from the page. Other messages are skipped.

    Raises:
        WebSocketDisconnect: The page was closed.
    """
    while (message := await page.receive())["type"] != "websocket.disconnect":
        if text := message.get("text"):
            return str(text)
    raise WebSocketDisconnect(message["code"])


async def _answer(page: WebSocket, server: Process) -> None:
    """Forwards the server's messages to the page. Closes the connection when the server ends."""
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
