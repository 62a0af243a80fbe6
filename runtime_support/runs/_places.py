"""Where in a run something is asked, so that it is found again when the run is run again.

    with scoped("mail/17"): ...     prompts inside are counted for themselves
    call_key()                      inside of a tool: the same text when it has to be called again

Nothing of it depends on time or on threads. Within a scope the script asks in the same order, and
calls that run ahead have scopes of their own, by their place in the order of the script.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

_INNERMOST = re.compile(r"[#/]?[^#/]*\Z")
_AHEAD = re.compile(r"#(\d+)\.(\d+)")


class Asked(NamedTuple):
    """One call of `prompt`, by its place: `key` is a hash of its first request and who answers."""

    scope: str
    key: str
    repeat: int

    def inside(self, step: str) -> str:
        """The name of the scope of a step, such as a call of a tool."""
        return f"{self.scope}/{self.key}.{self.repeat}.{step}"


class Scope:
    """A part of a run, with what was asked in it."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._asked: Counter[str] = Counter()
        self._lines = 0
        self._lock = threading.Lock()
        self._parts: dict[str, Scope] = {}

    def asked(self, key: str) -> Asked:
        """The next call of `prompt` with this key."""
        with self._lock:
            repeat = self._asked[key]
            self._asked[key] += 1
        return Asked(self.name, key, repeat)

    def next_line(self) -> str:
        """The name of the next line of calls that may run ahead."""
        with self._lock:
            self._lines += 1
            return f"{self.name}#{self._lines}"

    def part(self, name: str) -> Scope:
        """The part of that name, always the same one."""
        with self._lock:
            whole = f"{self.name}/{name}" if self.name else name
            return self._parts.setdefault(name, Scope(whole))


_root = Scope()
_here: ContextVar[Scope | None] = ContextVar("saft_scope", default=None)


def root() -> Scope:
    """The scope of the run of the process."""
    return _root


def begin_run() -> None:
    """Begins another run in the process: what it asked before counts no more."""
    global _root
    _root = Scope()


def scope_here() -> Scope:
    """The scope that this thread is in."""
    return _here.get() or _root


@contextmanager
def within(scope: Scope) -> Generator[None]:
    """Puts the block into this scope."""
    token = _here.set(scope)
    try:
        yield
    finally:
        _here.reset(token)


def enter(scope: Scope) -> None:
    """Puts the rest of this context into this scope."""
    _here.set(scope)


@contextmanager
def scoped(name: str) -> Generator[None]:
    """Names a part of a run, such as a row, so that a journal keeps its prompts apart from equal
    ones.

    Use it for the parts that your own threads run. Without a journal it does nothing.
    """
    with within(scope_here().part(name)):
        yield


def call_key() -> str:
    """Returns, inside of a tool, a key that is the same when a resumed run makes this call again.
    """
    return scope_here().name


def enclosing_scopes(scope: str) -> Iterator[str]:
    """The names of a scope and of those around it, from the inside."""
    while scope:
        yield scope
        scope = _INNERMOST.sub("", scope)


def without_order(scope: str) -> str:
    """The name of a scope without what says which calls ran ahead."""
    return _AHEAD.sub("", scope)


def lines_ahead(scope: str) -> tuple[str, ...]:
    """The lines that calls ran ahead in, one inside of the other."""
    return tuple(line for line, _ in _AHEAD.findall(scope))


def order_ahead(scope: str) -> tuple[int, ...]:
    """The places of calls that ran ahead in the order of the script."""
    return tuple(int(number) for pair in _AHEAD.findall(scope) for number in pair)
