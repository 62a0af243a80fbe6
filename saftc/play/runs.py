"""A run of a script in a process of its own, with what it prints and asks as it does so.

    run = Run(text, folder, "triage.saft", root)
    async for news in run.news(): ...     {"kind": "output", "stream": "stdout", "text": "..."},
                                          {"kind": "prompt", ...} as the log of the runtime has it,
                                          and at last {"kind": "ended", "code": 0, "seconds": 1.2}
    run.stop()                            asks it to end, and ends it when it does not
"""

import asyncio
import codecs
import json
import os
import signal
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

News = dict[str, Any]

# What a run may take to end when it is asked to, in seconds.
_PATIENCE = 3.0
# How often the log is looked at for more, in seconds.
_PAUSE = 0.1
# In bytes: what is read of the output, or of a log, at once.
_PIECE = 1 << 16


class Run:
    """A script that runs from a text, as `saftc run -` in the folder of its file, called `name`.

    Its imports begin in `root`.
    """

    def __init__(self, text: str, folder: Path, name: str, root: Path) -> None:
        self.text = text
        self.root = root
        self.name = name
        self.folder = folder
        # The page of the timeline, once it has ended.
        self.timeline: bytes | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._is_stopped = False

    async def news(self) -> AsyncIterator[News]:
        """Runs it; gives what happens, in order."""
        with tempfile.TemporaryDirectory(prefix="saftc-play-") as name:
            log, timeline = Path(name, "log.jsonl"), Path(name, "timeline.html")
            environment = {
                **os.environ,
                "SAFT_LOG": str(log),
                "SAFT_TIMELINE": str(timeline),
                "PYTHONUNBUFFERED": "1",
                "NO_COLOR": "1",
            }
            started = time.monotonic()
            process = self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "saftc.play.named_run", self.name),
                *("saftc", "run", "--root", str(self.root), "-"),
                cwd=self.folder,
                env=environment,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                # What it starts can be ended with it.
                start_new_session=True,
            )
            try:
                async for news in self._followed(process, log):
                    yield news
            finally:
                self._kill()
                await process.wait()
                self._process = None
            if timeline.exists():
                self.timeline = timeline.read_bytes()
            seconds = round(time.monotonic() - started, 2)
            yield {
                "kind": "ended",
                "code": process.returncode,
                "seconds": seconds,
                "stopped": self._is_stopped,
                "timeline": self.timeline is not None,
            }

    def stop(self) -> None:
        """Asks it to end as Ctrl-C does, with all that it has started; ends it when it goes on."""
        if self._process is None or self._is_stopped:
            return
        self._is_stopped = True
        _signal(self._process, signal.SIGINT)
        asyncio.get_running_loop().call_later(_PATIENCE, self._kill)

    def _kill(self) -> None:
        if self._process is not None:
            _signal(self._process, signal.SIGKILL)

    async def _followed(
        self, process: asyncio.subprocess.Process, log: Path
    ) -> AsyncIterator[News]:
        news: asyncio.Queue[News | None] = asyncio.Queue(maxsize=1000)
        assert process.stdin is not None
        process.stdin.write(self.text.encode("utf-8", "replace"))
        process.stdin.close()
        following = asyncio.create_task(_follow(process, _Log(log, news.put)))
        try:
            while (one := await news.get()) is not None:
                yield one
            await following
        finally:
            following.cancel()


async def _follow(process: asyncio.subprocess.Process, log: "_Log") -> None:
    assert process.stdout is not None and process.stderr is not None
    looking = asyncio.create_task(_look(log))
    try:
        await asyncio.gather(
            _read(process.stdout, "stdout", log), _read(process.stderr, "stderr", log)
        )
        await process.wait()
        await log.catch_up()
    finally:
        looking.cancel()
        await log.tell(None)


async def _read(stream: asyncio.StreamReader, name: str, log: "_Log") -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while data := await stream.read(_PIECE):
        text = decoder.decode(data)
        # What is printed follows from what was asked before.
        await log.catch_up()
        if text:
            await log.tell({"kind": "output", "stream": name, "text": text})


async def _look(log: "_Log") -> None:
    while True:
        await log.catch_up()
        await asyncio.sleep(_PAUSE)


class _Log:
    """The log of a run, whose events are sent as they come."""

    def __init__(self, path: Path, tell: Callable[[News | None], Awaitable[None]]) -> None:
        self.path = path
        self.tell = tell
        self._read = 0
        # A line that is half written waits for its rest.
        self._rest = b""
        self._turns = asyncio.Lock()

    async def catch_up(self) -> None:
        """Tells what has been written by now."""
        async with self._turns:
            if not self.path.exists():
                return
            with self.path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
            self._read += len(data)
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                await self.tell({"kind": "prompt", **json.loads(line)})


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    """Sends a signal to a process and to those that it has started."""
    # All of them may have ended.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
