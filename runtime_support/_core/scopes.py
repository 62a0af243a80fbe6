"""Where in a run something is asked, so that it is found again when the run is run again.

    with journal_scope("mail/17"): ...    prompts inside are counted for themselves
    idempotency_key()                     inside of a tool: the same text when it is called again

What is kept is found by what was asked, within the scope that people and calls of tools name. Its
place says where that was: which line of calls that ran ahead, which of them, and how often the same
was asked there before. Of equal prompts, each prefers the one that was asked at its own place.
Nothing of it depends on time or on threads.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from runtime_support._values.context import Block, context_here

_NUMBER = re.compile(r"\d+")


class PromptKey(NamedTuple):
    """One call of `prompt`: `key` is a hash of its first request and who answers, `place` where in
    the scope that was asked first.
    """

    scope: str
    key: str
    place: str

    def inside(self, step: str) -> str:
        """The name of the scope of a step, such as a call of a tool."""
        return f"{self.scope}/{self.key}.{self.place}.{step}"

    def another(self, number: int) -> PromptKey:
        """Another name, where something else has this one already."""
        return self._replace(place=f"{self.place}~{number}")


def order_of(place: str) -> tuple[int, ...]:
    """A place in the order of the script."""
    return tuple(map(int, _NUMBER.findall(place)))


class Scope:
    """A part of a run, with what was asked in it; `line` says which call that ran ahead it is."""

    def __init__(self, name: str = "", line: str = "") -> None:
        self.name = name
        self.line = line
        self._asked: Counter[str] = Counter()
        self._lines = 0
        self._lock = threading.Lock()
        self._parts: dict[str, Scope] = {}

    def asked(self, key: str) -> PromptKey:
        """The next call of `prompt` with this key."""
        with self._lock:
            repeat = self._asked[key]
            self._asked[key] += 1
        return PromptKey(self.name, key, f"{self.line}{repeat}")

    def next_line(self) -> Line:
        """The next line of calls that may run ahead."""
        with self._lock:
            self._lines += 1
            return Line(self.name, f"{self.line}{self._lines}")

    def part(self, name: str) -> Scope:
        """The part of that name, always the same one."""
        with self._lock:
            whole = f"{self.name}/{name}" if self.name else name
            return self._parts.setdefault(name, Scope(whole, self.line))


class Line(NamedTuple):
    """Calls that may run ahead, in one scope."""

    scope: str
    name: str

    def call(self, number: int) -> Scope:
        """What one of them asks."""
        return Scope(self.scope, f"{self.name}.{number}:")


_root = Scope()


def root() -> Scope:
    """The scope of the run of the process."""
    return _root


def begin_run() -> None:
    """Begins another run in the process: what it asked before counts no more."""
    global _root
    _root = Scope()


def scope_here() -> Scope:
    """The scope that this thread is in."""
    return context_here().scope or _root


@contextmanager
def within(scope: Scope) -> Generator[None]:
    """Puts the block into this scope."""
    with Block(scope=scope):
        yield


@contextmanager
def journal_scope(name: str) -> Generator[None]:
    """Names a part of a run, such as a row, so that a journal keeps its prompts apart from equal
    ones.

    Use it for the parts that your own threads run. Without a journal it does nothing.
    """
    with within(scope_here().part(name)):
        yield


def idempotency_key() -> str:
    """Returns, in a tool, a key that is the same when a resumed run makes this call again."""
    return scope_here().name


def enclosing_scopes(scope: str) -> Iterator[str]:
    """The names of a scope and of those around it, from the inside."""
    while scope:
        yield scope
        scope = scope.rpartition("/")[0]
