"""Exchanges as JSON, and files of such lines, as recordings are.

    with Held(path, PRIVATE, waits=False) as file:  no other process adds to it or replaces it
        file.mend()                what a crash has left of the last line is cut off
        file.add(lines)            all of them or none; when this returns, they are on the disk

Lines are added and never changed. The system lets a file go when the process has ended, however
that did.
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
# What the parts of replies are, as their classes say it.
_KINDS: dict[str, type] = {"str": str, "int": int}
_sync = getattr(os, "fdatasync", os.fsync)

# Of a call and of a reply.
OPAQUE = ("id", "opaque")

Entry: TypeAlias = dict[str, Any]
T = TypeVar("T")


def request_data(request: Request) -> Entry:
    """The canonical data of a request, without a model that its program did not choose."""
    data = request.canonical()
    if "model" in request.ambient:
        data.pop("model", None)
    return data


def key_of(request: Request) -> str:
    """The key of a request: the same for the same data."""
    return key_of_data(request_data(request))


def key_of_data(data: Any) -> str:
    """The key of JSON data."""
    text = json.dumps(data, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_LENGTH]


def outcome_data(answer: Reply | ToolsUnsupported) -> Entry:
    """The part of an entry that tells what came of a request."""
    if not isinstance(answer, Reply):
        return {"refused": "tools", "message": answer.message}
    reply = answer.readable()
    if answer.origin is not None:
        for call, told in zip(answer.tool_calls, reply["tool_calls"], strict=True):
            told |= _there(call, OPAQUE)
        reply |= {**_there(answer, ("opaque",)), "origin": asdict(answer.origin)}
    return {"reply": reply}


def used_of(reply: Reply) -> list[int]:
    """The tokens of a reply in a journal: in and out, and the parts of them if there are any."""
    parts = [getattr(reply, name) for name in TOKEN_PARTS]
    return [reply.input_tokens, reply.output_tokens, *(parts if any(parts) else ())]


def usage_of(sent: int, answered: int, *parts: int) -> Usage:
    """The same as the usage of a request."""
    return Usage(sent, answered, 1, *parts)


def reply_of(entry: Entry, path: str) -> Reply:
    """The reply of an entry; what a later version has written beside it is left out."""
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
    """TypeError when a part of a reply is not what it always is: a file may have been edited."""
    for name, value in data.items():
        wanted = _KINDS.get(kind.__annotations__[name])
        if wanted is not None and type(value) is not wanted:
            raise TypeError(f"`{name}` is {brief(value)}")
    if not is_object(data.get("opaque") or {}):
        raise TypeError("`opaque` is an object")


def line_of(entry: Entry) -> bytes:
    """The entry as a line."""
    # Of half a surrogate pair, the escape is JSON as well.
    text = json.dumps(entry, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def read_lines(path: str, what: str) -> Iterator[bytes]:
    """The lines of a file, also of one that is being written; ConfigError when there is none."""
    try:
        check_regular(path)
        with open(path, "rb") as file:
            yield from file
    except OSError as error:
        raise ConfigError(f"cannot read the {what} {path}: {error.strerror or error}") from None


class LockedFile:
    """A file that is made if need be, and that no other process adds to or replaces meanwhile.

    BlockingIOError when another process has it and this one does not wait; OSError or ValueError
    when there can be no such file.
    """

    def __init__(self, path: str, permissions: int, *, waits: bool) -> None:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._descriptor = -1
        while not self.is_open or not self._is_at(path):  # or another process has replaced it
            self.close()
            if os.path.exists(path):
                check_regular(path)
            self._descriptor = os.open(path, flags, permissions)
            if not lock(self._descriptor, waits=waits):
                self.close()
                raise BlockingIOError
        _held.add(self)

    def mend(self) -> None:
        """Makes the file end with a whole line; one that is torn is cut."""
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
        """Adds these lines; OSError when they cannot all be on the disk."""
        end, left = os.lseek(self._descriptor, 0, os.SEEK_END), memoryview(data)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
            _sync(self._descriptor)
        except OSError:
            with suppress(OSError):  # the torn line is mended later
                os.ftruncate(self._descriptor, end)
            raise

    def overwrite(self, data: bytes) -> None:
        """Writes this in the place of the beginning."""
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, data)

    def close(self) -> None:
        """Lets the file go, also where a forked process has not let go of it yet."""
        if self.is_open:
            unlock(self._descriptor)
            self.leave()

    def leave(self) -> None:
        """In a forked process: the parent goes on to hold the file."""
        if self.is_open:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def is_open(self) -> bool:
        """Whether it is held: not any more after `close`, and not in a forked process."""
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
    """Takes a file until it is closed; False when another process has it and this does not wait."""
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
    """Lets others take the file, though a forked process may still have it open."""
    if sys.platform != "win32":  # where nothing is forked, and it is free when it is closed
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)


_FAR = 1 << 40  # behind everything: what is locked on Windows cannot be read by others
_PAUSE = 0.02


def lock_by_msvcrt(msvcrt: Any, descriptor: int, *, waits: bool) -> bool:
    """The same on Windows, which can wait for a file for ten seconds only."""
    while True:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            return True
        except OSError:
            if not waits:
                return False
        time.sleep(_PAUSE)


class ByPath(Generic[T]):
    """What the process has open, by path; a forked process begins with nothing."""

    def __init__(self) -> None:
        self.forget()
        after_fork(self.forget)

    def forget(self) -> None:
        """Forgets what is open."""
        self._lock, self.open = threading.Lock(), dict[str, T]()

    def at(self, path: str, make: Callable[[str], T]) -> T:
        """What is open at this path, or is made now."""
        with self._lock:
            if path not in self.open:
                self.open[path] = make(path)
            return self.open[path]

    def take(self, path: str) -> T | None:
        """What was open at this path and is not any more."""
        with self._lock:
            return self.open.pop(path, None)


def _let_go() -> None:
    """A forked process has what its parent holds: it would hold it longer than that."""
    for file in list(_held):
        file.leave()


after_fork(_let_go)


def _there(one: Any, names: tuple[str, ...]) -> Entry:
    """The parts of these names, without those that are empty."""
    found = {name: getattr(one, name) for name in names}
    return {name: value for name, value in found.items() if value}


def _known(class_: Any, data: Entry) -> Entry:
    names = {own.name for own in fields(class_)}
    return {name: value for name, value in data.items() if name in names}
