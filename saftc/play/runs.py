"""Runs a script in a separate process, and yields its output and prompts as news for the page.

    run = Run(text, folder, "triage.saft", root)
    async for news in run.news(): ...     the events of the run, as dictionaries
    run.answer("Ann")                     sends a line to the script, which reads text or a decision
    run.stop()                            interrupts the script; kills it if it does not end
    ask_again(request, folder, choice)    sends a single request again; yields its news

The news of a run:

    {"kind": "output", "stream": "stdout", "text": "..."}
    {"kind": "prompt", ...}               an event of a prompt, as in `saftc.trace.live`
    {"kind": "begun"}, {"kind": "done"}   the script has started, or has ended
    {"kind": "reads"}                     the script reads a line of text
    {"kind": "waits", ...}                a call waits for a decision (`saftc.trace.person`)
    {"kind": "timeline"}                  the timeline has changed
    {"kind": "ended", "code": 0, "seconds": 1.2, "start": 0.9}
                                          comes last: the exit code, the seconds that the script
                                          took, and the seconds until it started

The processes that a run has started end with it.
"""

import asyncio
import codecs
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

News = dict[str, Any]

# The seconds after an interrupt until the run is killed.
_PATIENCE = 3.0
# The polling interval, in seconds.
_PAUSE = 0.1
# The bytes of output, or of a log, that are read at once.
_PIECE = 1 << 16
_LONGEST_LINE = 1 << 26


class Choice(NamedTuple):
    """The provider and model that were chosen on the page.

    With a `recording`, only requests that the recording lacks are sent to the provider.
    """

    provider: str
    model: str | None
    recording: Path | None = None

    def set_in(self, environment: dict[str, str]) -> None:
        """Makes this choice override the settings of the environment."""
        for name in ("MODEL", "BASE_URL", "API_KEY_ENV", "REPLAY"):
            environment.pop(f"SAFT_{name}", None)
        environment["SAFT_PROVIDER"] = self.provider
        if self.model is not None:
            environment["SAFT_MODEL"] = self.model


class Run:
    """A run of a script's `text` as if `saftc run` ran the file `name` in `folder`.

    Imports are resolved from `root`.
    """

    def __init__(
        self,
        text: str,
        folder: Path,
        name: str,
        root: Path,
        choice: Choice | None = None,
    ) -> None:
        self.text = text
        self.root = root
        self.name = name
        self.folder = folder
        self.choice = choice
        # The HTML of the timeline, as last written by the run.
        self.timeline: bytes | None = None
        # By the key of a prompt: its last request, if that can be sent again.
        self.requests: dict[int, dict[str, Any]] = {}
        # The times at which the script started ("begun") and ended ("done").
        self._moments: dict[str, float] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._is_stopped = False

    async def news(self) -> AsyncIterator[News]:
        """Runs the script. Yields its output, prompts and other events as news, in order."""
        with tempfile.TemporaryDirectory(prefix="saftc-play-") as name:
            log, timeline = Path(name, "live.jsonl"), Path(name, "timeline.html")
            environment = _environment(self.choice)
            environment |= {"SAFT_LIVE": str(log), "SAFT_TIMELINE": str(timeline)}
            if self.choice is not None and self.choice.recording is not None:
                # Replies that the recording lacks are added to a copy, not to the user's file.
                copy = shutil.copy(self.choice.recording, Path(name, "recording.jsonl"))
                environment |= {"SAFT_REPLAY": str(copy), "SAFT_RECORD": str(copy)}
            text = self.text.encode("utf-8", "replace")
            started = time.monotonic()
            process = self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "saftc.play.named_run"),
                *(self.name, str(len(text)), str(self.root)),
                cwd=self.folder,
                env=environment,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                # A process group, so that the processes which the script starts are ended, too.
                start_new_session=True,
            )
            try:
                async for news in self._followed(process, text, log, timeline):
                    yield news
            finally:
                self._kill()
                await process.wait()
                self._process = None
            if timeline.exists():
                self.timeline = timeline.read_bytes()
            begun = self._moments.get("begun", started)
            ended = self._moments.get("done", time.monotonic())
            yield {
                "kind": "ended",
                "code": process.returncode,
                "seconds": round(ended - begun, 2),
                "start": round(begun - started, 2),
                "stopped": self._is_stopped,
                "timeline": self.timeline is not None,
            }

    def answer(self, line: str | None) -> None:
        """Writes a line to the script's standard input. If the line is None, closes the input."""
        if self._process is None or self._process.stdin is None:
            return
        if line is None:
            self._process.stdin.close()
        elif not self._process.stdin.is_closing():
            self._process.stdin.write(f"{line}\n".encode("utf-8", "replace"))

    def stop(self) -> None:
        """Interrupts the processes of the run, as Ctrl-C does. Kills them if they do not end."""
        if self._process is None or self._is_stopped:
            return
        self._is_stopped = True
        _signal(self._process, signal.SIGINT)
        asyncio.get_running_loop().call_later(_PATIENCE, self._kill)

    def _kill(self) -> None:
        if self._process is not None:
            _signal(self._process, signal.SIGKILL)

    async def _followed(
        self, process: asyncio.subprocess.Process, text: bytes, log: Path, timeline: Path
    ) -> AsyncIterator[News]:
        news: asyncio.Queue[News | None] = asyncio.Queue(maxsize=1000)
        assert process.stdin is not None
        process.stdin.write(text)
        following = asyncio.create_task(_follow(process, _Log(log, news.put), timeline))
        try:
            while (one := await news.get()) is not None:
                if one["kind"] in ("begun", "done"):
                    self._moments[one["kind"]] = time.monotonic()
                elif one["kind"] == "timeline":
                    with suppress(FileNotFoundError):
                        self.timeline = timeline.read_bytes()
                elif one.get("event") == "request":
                    request = one.pop("whole", None)
                    one["again"] = request is not None
                    self.requests[one["key"]] = request
                yield one
            await following
        finally:
            following.cancel()


async def ask_again(
    request: dict[str, Any], folder: Path, choice: Choice | None
) -> AsyncIterator[News]:
    """Sends a request again. Yields the pieces of the reply, then the reply or the failure."""
    process = await _asking("again", folder, choice)
    try:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(request).encode())
        process.stdin.close()
        while line := await process.stdout.readline():
            yield json.loads(line)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def provider_and_model(folder: Path) -> dict[str, Any]:
    """The provider and model that a folder's settings name, and the possible choices."""
    process = await _asking("who", folder, None)
    output, _ = await process.communicate()
    return json.loads(output) if process.returncode == 0 else {"choices": []}


async def _asking(what: str, folder: Path, choice: Choice | None) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "saftc.trace.resend", what),
        cwd=folder,
        env=_environment(choice),
        stdin=PIPE,
        stdout=PIPE,
        # A whole reply may be in one line.
        limit=_LONGEST_LINE,
    )


def _environment(choice: Choice | None) -> dict[str, str]:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
    if choice is not None:
        choice.set_in(environment)
    return environment


async def _follow(process: asyncio.subprocess.Process, log: "_Log", timeline: Path) -> None:
    assert process.stdout is not None and process.stderr is not None
    try:
        # An error in one of these tasks ends the run; otherwise the page would wait for ever.
        async with asyncio.TaskGroup() as group:
            looking = group.create_task(_look(log, timeline))
            await asyncio.gather(
                _read(process.stdout, "stdout", log), _read(process.stderr, "stderr", log)
            )
            await process.wait()
            await log.catch_up()
            looking.cancel()
    finally:
        await log.tell(None)


async def _read(stream: asyncio.StreamReader, name: str, log: "_Log") -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while data := await stream.read(_PIECE):
        text = decoder.decode(data)
        # Send the events written so far first: output comes after the prompts it depends on.
        await log.catch_up()
        if text:
            await log.tell({"kind": "output", "stream": name, "text": text})


async def _look(log: "_Log", timeline: Path) -> None:
    drawn = 0
    while True:
        await log.catch_up()
        if timeline.exists() and (written := timeline.stat().st_mtime_ns) != drawn:
            drawn = written
            await log.tell({"kind": "timeline"})
        await asyncio.sleep(_PAUSE)


class _Log:
    """Follows the live file of a run, and sends its events to the page."""

    def __init__(self, path: Path, tell: Callable[[News | None], Awaitable[None]]) -> None:
        self.path = path
        self.tell = tell
        self._read = 0
        # The start of a line whose end is not written yet.
        self._rest = b""
        self._turns = asyncio.Lock()

    async def catch_up(self) -> None:
        """Sends the events that were written since the last call."""
        async with self._turns:
            if not self.path.exists():
                return
            with self.path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
            self._read += len(data)
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                event = json.loads(line)
                await self.tell({"kind": "prompt" if "key" in event else event["event"], **event})


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    """Sends a signal to a process and to the processes that it started."""
    # The processes may have ended already.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
