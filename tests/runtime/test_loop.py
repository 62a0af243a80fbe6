"""Coroutines of Python in code that has no loop: one loop for the run, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runtime_support import configure, in_loop, ops, prompt
from runtime_support.testing import Scripted, tool_request

told: contextvars.ContextVar[str] = contextvars.ContextVar("told", default="nothing")


class Client:
    """What is bound to the loop that it was first used in, as clients of HTTP are."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None

    async def get(self, url: str) -> str:
        self.loop = self.loop or asyncio.get_running_loop()
        assert self.loop is asyncio.get_running_loop(), "another loop"
        await asyncio.sleep(0)
        return f"page of {url}"


def test_all_coroutines_of_a_run_share_a_loop() -> None:
    client = Client()
    pages = [in_loop(client.get("a")), ops.call(client.get, "b"), ops.send(client, "get", "c")]
    assert pages == ["page of a", "page of b", "page of c"]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda n: in_loop(client.get(n)), "abcd")) == [
            f"page of {n}" for n in "abcd"
        ]
    assert client.loop is not None and client.loop.is_running()


def test_tools_share_it_as_well() -> None:
    client = Client()
    in_loop(client.get("a"))
    replies: list[Any] = [tool_request("get", url="b"), "done"]
    configure(provider=Scripted(replies))
    assert prompt("Use {get}.", get=client.get).tool_calls[0].result == "page of b"


def test_what_is_no_coroutine_is_itself() -> None:
    assert in_loop(3) == 3
    assert ops.call(len, [1]) == 1


def test_errors_and_contexts() -> None:
    async def failing() -> None:
        raise KeyError(told.get())

    token = told.set("something")
    try:
        with pytest.raises(KeyError, match="something"):
            in_loop(failing())
    finally:
        told.reset(token)


def test_a_plain_function_that_a_coroutine_has_called() -> None:
    """It cannot wait in the loop that it blocks."""

    async def inner() -> int:
        return 1

    async def outer() -> int:
        return in_loop(inner()) + 1

    assert in_loop(outer()) == 2


def test_in_a_loop_of_the_program() -> None:
    async def value() -> str:
        return threading.current_thread().name

    async def main() -> str:
        return in_loop(value())

    assert asyncio.run(main()) == "loop of coroutines"


def test_the_async_form_awaits_in_its_own_loop() -> None:
    client = Client()

    async def main() -> list[str]:
        client.loop = asyncio.get_running_loop()
        return [await ops.acall(client.get, "a"), await ops.acall(ops.send, client, "get", "b")]

    assert asyncio.run(main()) == ["page of a", "page of b"]


def test_the_loop_ends_with_the_process() -> None:
    """What is left in it is cancelled, so that it can close what it holds."""
    script = """
        import asyncio
        from runtime_support import in_loop

        async def hold() -> None:
            try:
                await asyncio.sleep(600)
            finally:
                print("closed", flush=True)

        async def begin() -> None:
            global held
            held = asyncio.get_running_loop().create_task(hold())
            await asyncio.sleep(0)

        in_loop(begin())
        print("over", flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("over\nclosed\n", "")
