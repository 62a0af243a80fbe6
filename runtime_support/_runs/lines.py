"""A file of lines, each of which is on the disk before `append` is over.

    lines = Lines(path)             takes the file; what a crash has left of a line is cut off
    for offset, line in lines: ...
    lines.append(b'{"a": 1}\\n')     one sync for all threads that wait for one
    lines.at(offset, length)

One process writes to a file; the system frees it when that has ended, however it did.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator

from runtime_support._files import check_regular
from runtime_support.errors import ConfigError, JournalError

_BLOCK = 65536
_sync = getattr(os, "fdatasync", os.fsync)


class _Waiting:
    """A line that a thread waits for."""

    __slots__ = ("error", "line", "offset")

    def __init__(self, line: bytes) -> None:
        self.line = line
        self.offset = -1
        self.error: str | None = None


class Lines:
    """Who comes while others write is written with the next."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._waiting: list[_Waiting] = []
        self._gathering = threading.Lock()
        self._writing = threading.Lock()
        self._looking_up = threading.Lock()
        self._broken: str | None = None
        try:
            self._descriptor = _opened(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(f"cannot use {path!r} as a journal: {reason}") from None
        try:
            _take(self._descriptor, path)
            size = os.fstat(self._descriptor).st_size
            self.end = self._end_of_whole_lines(size)
            self.torn = size - self.end
            # With a position of its own: what is written moves the other one.
            self._file = open(path, "rb")  # noqa: SIM115
        except BaseException:
            os.close(self._descriptor)
            raise

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """All lines, with their offsets."""
        offset = 0
        with open(self.path, "rb") as file:
            for line in file:
                if offset >= self.end:
                    return
                yield offset, line
                offset += len(line)

    def cut(self) -> None:
        """Cuts off what a crash has left of the last line."""
        os.ftruncate(self._descriptor, self.end)

    def at(self, offset: int, length: int) -> bytes:
        """The line of that length at an offset."""
        with self._looking_up:
            self._file.seek(offset)
            return self._file.read(length)

    def append(self, line: bytes) -> int:
        """Writes the line; gives its offset. JournalError when it cannot be kept."""
        own = _Waiting(line)
        with self._gathering:
            self._waiting.append(own)
        with self._writing:
            if own.offset < 0:
                with self._gathering:
                    batch, self._waiting = self._waiting, []
                self._write(batch)
        if own.error is not None:
            raise self._lost(own.error)
        return own.offset

    def check_whole(self) -> None:
        """JournalError when nothing can be kept any more: then nothing is to be asked."""
        if self._broken is not None:
            raise self._lost(self._broken)

    def _lost(self, reason: str) -> JournalError:
        return JournalError(
            f"cannot keep answers in {self.path}: {reason}",
            hint="what was kept before is whole: make room, and the same command goes on",
        )

    def close(self) -> None:
        """Lets the file go."""
        with self._writing:
            self._broken = self._broken or "the run is over"
            os.close(self._descriptor)
        with self._looking_up:
            self._file.close()

    def _write(self, batch: list[_Waiting]) -> None:
        data = memoryview(b"".join(one.line for one in batch))
        try:
            if self._broken is not None:
                raise OSError(0, self._broken)
            while data:
                data = data[os.write(self._descriptor, data) :]
            _sync(self._descriptor)
        except OSError as error:
            self._fail(batch, error.strerror or str(error))
            return
        for one in batch:
            one.offset = self.end
            self.end += len(one.line)

    def _fail(self, batch: list[_Waiting], reason: str) -> None:
        """From now on nothing is taken, as it would stand behind a gap."""
        if self._broken is None:
            self._broken = reason
            try:
                self.cut()
            except OSError:
                self._broken = f"{reason}; the last line in it is torn"
        for one in batch:
            one.offset, one.error = 0, self._broken

    def _end_of_whole_lines(self, size: int) -> int:
        position = size
        while position:
            start = max(0, position - _BLOCK)
            os.lseek(self._descriptor, start, os.SEEK_SET)
            line_end = os.read(self._descriptor, position - start).rfind(b"\n")
            if line_end >= 0:
                return start + line_end + 1
            position = start
        return 0


def _opened(path: str) -> int:
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    if os.path.exists(path):
        check_regular(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, 0o600)


def _take(descriptor: int, path: str) -> None:
    if is_taken(descriptor):
        raise ConfigError(
            f"the journal {path} is in use by another process",
            setting="journal",
            hint="one process goes on with a run; name another journal for another run",
        )


if sys.platform != "win32":
    import fcntl

    def is_taken(descriptor: int) -> bool:
        """Takes the file, unless another process has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        return False

else:
    import msvcrt

    _FAR = 1 << 40  # behind everything: what is locked there cannot be read by others

    def is_taken(descriptor: int) -> bool:
        """Takes the file, unless another process has it."""
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return True
        return False
