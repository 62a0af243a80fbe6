"""Chunks in this process, each with a thread that waits for its rows."""

from __future__ import annotations

import threading
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue

from runtime_support.scale._chunk import Chunk, ChunkProgress, Done, run_chunk
from runtime_support.scale._job import Function, Job


class Local:
    """An engine: see `_mapping.Engine`."""

    def __init__(self, job: Job, function: Function) -> None:
        self.job = job
        self._function = function
        self._done: SimpleQueue[Done | BaseException] = SimpleQueue()
        self._is_stopped = threading.Event()
        self._tallies: dict[int, ChunkProgress] = {}

    @property
    def is_here(self) -> bool:
        """Whether a row that ends its process ends the job."""
        return True

    @property
    def processes(self) -> int:
        """How many share the rates."""
        return 1

    @property
    def window(self) -> int:
        """How many chunks are to be under way."""
        return self.job.at_once

    def submit(self, chunk: Chunk) -> None:
        """Starts the chunk."""
        threading.Thread(target=copy_context().run, args=(self._run, chunk), daemon=True).start()

    def take(self, seconds: float) -> Done | None:
        """The next chunk that is over; None when there is none so long."""
        try:
            done = self._done.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(done, BaseException):
            raise done
        self._tallies.pop(done.number, None)
        return done

    def tallies(self) -> dict[int, ChunkProgress]:
        """How far the chunks under way are."""
        return dict(self._tallies)

    def stop(self) -> None:
        """Stops the chunks from beginning new rows."""
        self._is_stopped.set()

    def close(self) -> None:
        """The same: threads end with the rows that they have."""
        self.stop()

    def _run(self, chunk: Chunk) -> None:
        try:
            wanted = lambda: not self._is_stopped.is_set()  # noqa: E731
            tell = partial(self._tallies.__setitem__, chunk.number)
            self._done.put(run_chunk(self.job, chunk, self._function, wanted, tell))
        except BaseException as error:
            self._done.put(error)
