"""Scripts that call `async def` functions of Python, in both forms."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Command

Script = Callable[[str, str], Path]

WEB = """\
import asyncio


class Client:
    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None

    async def get(self, url: str) -> str:
        self.loop = self.loop or asyncio.get_running_loop()
        assert self.loop is asyncio.get_running_loop()
        await asyncio.sleep(0)
        return f"page of {url}"


client = Client()


async def fetch(url: str) -> str:
    return await client.get(url)


def anything() -> object:
    return client
"""
PAGES = """\
from web import fetch, anything

f size(url: string) -> int:
    ret len(fetch(url))

f main():
    page = fetch("a")
    print(page, size("bc"), anything().get("d"))
    print([fetch(url) for url in ["e", "f"]], sorted(["gh", "i"], by: size))
"""
SAID = """\
page of a 10 page of d
["page of e", "page of f"] ["i", "gh"]
"""


def test_coroutines_are_awaited(saftc: Command, script: Script, folder: Path) -> None:
    script("web.py", WEB)
    script("pages.saft", PAGES)
    ended = saftc("run", "pages.saft")
    assert (ended.out, ended.err) == (SAID, "")
    for options in ([], ["--async"]):
        assert saftc("build", "pages.saft", "-o", "out.py", "--force", *options).code == 0
        done = subprocess.run(
            [sys.executable, "out.py"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.stderr) == (SAID, "")
    assert "await fetch(" in (folder / "out.py").read_text()
