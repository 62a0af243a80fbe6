"""Requests and replies as JSON, and locked files of JSON lines, such as recordings.

    with LockedFile(path, PRIVATE, waits=False) as file:    no other process can write to it
        file.mend()                cuts off a line that a crash left unfinished
        file.add(lines)            adds all lines or none; they are on the disk when it returns

Lines are added and never changed. The operating system releases the file when the process ends,
even if it is killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, fields
from typing import Any, Generic, TypeAlias, TypeVar
from weakref import WeakSet

from runtime_support._core.messages import TOKEN_PARTS, Origin, Reply, Request, ToolRequest
from runtime_support._core.results import Usage
from runtime_support._language.files import check_regular
from runtime_support._values.context import after_fork
from runtime_support._values.kinds import brief, is_object
from runtime_support.errors import ConfigError, ToolsUnsupported

KEY_LENGTH = 16
# The types of a reply's fields that are checked, by the names in their annotations.
_KINDS: dict[str, type] = {"str": str, "int": int}
_sync = getattr(os, "fdatasync", os.fsync)

# The fields of tool calls and replies whose meaning only the provider knows.
OPAQUE = ("id", "opaque")

Entry: TypeAlias = dict[str, Any]
T = TypeVar("T")


def request_data(request: Request) -> Entry:
    """The canonical data of a request, without the model if the program did not choose it."""
    data = request.canonical()
    if "model" in request.ambient:
        data.pop("model", None)
    return data


def key_of(request: Request) -> str:
    """The key of a request: a hash of its data."""
    return key_of_data(request_data(request))


def key_of_data(data: Any) -> str:
    """The key of JSON data: the beginning of a hash that ignores the order of fields."""
    text = json.dumps(data, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_LENGTH]


def outcome_data(answer: Reply | ToolsUnsupported) -> Entry:
    """The outcome of a request as fields of an entry.

    The outcome is the reply, or the provider's refusal to take tools.
    """
    if not isinstance(answer, Reply):
        return {"refused": "tools", "message": answer.message}
    reply = answer.readable()
    if answer.origin is not None:
        for call, told in zip(answer.tool_calls, reply["tool_calls"], strict=True):
            told |= _there(call, OPAQUE)
        reply |= {**_there(answer, ("opaque",)), "origin": asdict(answer.origin)}
    return {"reply": reply}


def used_of(usage: Usage) -> list[int]:
    """The numbers of input and output tokens of a request, for a journal.

    The numbers of TOKEN_PARTS, such as cached tokens, follow unless all of them are 0.
    """
    parts = [getattr(usage, name) for name in TOKEN_PARTS]
    return [usage.input_tokens, usage.output_tokens, *(parts if any(parts) else ())]


def usage_of(sent: int, answered: int, *parts: int) -> Usage:
    """The usage of one request, from the numbers that `used_of` returns."""
    return Usage(sent, answered, 1, *parts)


def reply_of(entry: Entry, path: str) -> Reply:
    """The reply in an entry; fields that a later version has added are ignored.

    Raises ToolsUnsupported if that was the outcome, and ConfigError if the reply is malformed.
    """
    if "refused" in entry:
        raise ToolsUnsupported(str(entry.get("message", "the provider takes no tools")))
    try:
        reply = _known(Reply, entry["reply"])
        calls = [ToolRequest(**_known(ToolRequest, call)) for call in reply.pop("tool_calls", ())]
        if "origin" in reply:
            reply["origin"] = Origin(**_known(Origin, reply["origin"]))
        for kind, one in ((Reply, reply), *((ToolRequest, asdict(call)) for call in calls)):
            _check_kinds(kind, one)
        return Reply(**reply, tool_calls=tuple(calls))
    except (AttributeError, KeyError, TypeError) as error:
        key = entry.get("key") or entry.get("hash")
        raise ConfigError(f"{path}: the entry {key} has no usable reply: {error}") from None


def _check_kinds(kind: type[Reply | ToolRequest], data: Entry) -> None:
    """Raises TypeError if a field of a reply or a tool call has the wrong type.

    This happens if a person has edited the file.
    """
    for name, value in data.items():
        wanted = _KINDS.get(kind.__annotations__[name])
        if wanted is not None and type(value) is not wanted:
            raise TypeError(f"`{name}` is {brief(value)}")
    if not is_object(data.get("opaque") or {}):
        raise TypeError("`opaque` is an object")


def line_of(entry: Entry) -> bytes:
    """The entry as a line of JSON."""
    # The escape of half a surrogate pair is valid JSON.
    text = json.dumps(entry, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def read_lines(path: str, what: str) -> Iterator[bytes]:
    """Yields the lines of a file, even while another process adds lines.

    Raises ConfigError if the file cannot be read.
    """
    try:
        check_regular(path)
        with open(path, "rb") as file:
            yield from file
    except OSError as error:
        raise ConfigError(f"cannot read the {what} {path}: {error.strerror or error}") from None


class LockedFile:
    """A file that no other process can change or replace while it is open.

    Creates the file if it is missing. Raises BlockingIOError if another process has locked it and
    `waits` is false, and OSError or ValueError if the path is not usable.
    """

    _descriptor = -1

    def __init__(self, path: str, permissions: int, *, waits: bool) -> None:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        while not self.is_open or not self._is_at(path):  # again if another process has replaced it
            self.close()
            if os.path.exists(path):
                check_regular(path)
            self._descriptor = os.open(path, flags, permissions)
            if not lock(self._descriptor, waits=waits):
                self.close()
                raise BlockingIOError
        _held.add(self)

    def mend(self) -> None:
        """Makes the file end with a whole line: cuts off a line that a crash left incomplete."""
        with open(self._descriptor, "rb", closefd=False) as file:
            if not file.seek(0, os.SEEK_END):
                return
            file.seek(-1, os.SEEK_END)
            if file.read() == b"\n":
                return
            file.seek(0)
            whole = file.read()
        last = whole.rpartition(b"\n")[2]
        try:
            json.loads(last)
        except (ValueError, RecursionError):
            os.ftruncate(self._descriptor, len(whole) - len(last))
        else:
            self.add(b"\n")

    def add(self, data: bytes) -> None:
        """Appends these lines; raises OSError if not all of them can be written to the disk."""
        end, left = os.lseek(self._descriptor, 0, os.SEEK_END), memoryview(data)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
            _sync(self._descriptor)
        except OSError:
            with suppress(OSError):  # `mend` cuts off the incomplete line later
                os.ftruncate(self._descriptor, end)
            raise

    def overwrite(self, data: bytes) -> None:
        """Overwrites the beginning of the file."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, data)

    def close(self) -> None:
        """Unlocks and closes the file, even if a forked process still has it open."""
        if self.is_open:
            unlock(self._descriptor)
            self.leave()

    def leave(self) -> None:
        """Closes the file in a forked process; the parent keeps its lock."""
        if self.is_open:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def is_open(self) -> bool:
        """True if this process holds the lock: false after `close` and in a forked process."""
        return self._descriptor >= 0

    def __enter__(self) -> LockedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_at(self, path: str) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(path))
        except FileNotFoundError:
            return False


_held: WeakSet[LockedFile] = WeakSet()


def lock(descriptor: int, *, waits: bool) -> bool:
    """Locks a file until it is closed.

    If another process has locked the file, waits for it or, if `waits` is false, returns False.
    """
    if sys.platform == "win32":
        import msvcrt

        return lock_by_msvcrt(msvcrt, descriptor, waits=waits)
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Unlocks a file, even if a forked process still has it open."""
    if sys.platform != "win32":  # Windows does not fork, and closing the file unlocks it
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)


_FAR = 1 << 40  # beyond the data, as other processes on Windows cannot read a locked range
_PAUSE = 0.02


def lock_by_msvcrt(msvcrt: Any, descriptor: int, *, waits: bool) -> bool:
    """Does the same as `lock` on Windows.

    Windows would wait for a lock for at most ten seconds, so this function tries again and again.
    """
    while True:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            return True
        except OSError:
            if not waits:
                return False
        time.sleep(_PAUSE)


class OpenFiles(Generic[T]):
    """The objects that this process has opened, by path; a forked process starts without them."""

    def __init__(self) -> None:
        self.forget()
        after_fork(self.forget)

    def forget(self) -> None:
        """Forgets all open objects."""
        self._lock, self.open = threading.Lock(), dict[str, T]()

    def at(self, path: str, make: Callable[[str], T]) -> T:
        """The object that is open for this path. If there is none, `make` opens an object."""
        with self._lock:
            if path not in self.open:
                self.open[path] = make(path)
            return self.open[path]

    def take(self, path: str) -> T | None:
        """Removes the object for this path and returns it, or None if there is no object."""
        with self._lock:
            return self.open.pop(path, None)


def _let_go() -> None:
    """Closes inherited files in a forked process.

    Otherwise, the files could stay locked after the parent has ended.
    """
    for file in list(_held):
        file.leave()


after_fork(_let_go)


def _there(one: Any, names: tuple[str, ...]) -> Entry:
    """Maps the `names` of attributes of `one` to their values, without empty values."""
    found = {name: getattr(one, name) for name in names}
    return {name: value for name, value in found.items() if value}


def _known(class_: Any, data: Entry) -> Entry:
    names = {own.name for own in fields(class_)}
    return {name: value for name, value in data.items() if name in names}
