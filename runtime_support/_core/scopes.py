"""Keys of prompts in a run, which stay the same when a resumed run looks up their answers.

    with journal_scope("mail/17"): ...    prompts inside are counted separately
    idempotency_key()                     in a tool: the same text when a resumed run calls it again

A journal looks up answers by scope and request. A scope is a part of the run that has a name, given
by the user or by a tool call. A prompt also has a place in its scope: the number of its group of
overlapping calls, the number of its call in the group, and how many equal prompts came before it in
this call. Equal prompts differ only in their places, and each prefers the answer recorded for its
place. Keys depend neither on time nor on threads.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from runtime_support._values.context import Block, current_context

_NUMBER = re.compile(r"\d+")


class PromptKey(NamedTuple):
    """The identity of one call of `prompt` in a run.

    `key` is a hash of the prompt's first request and the provider. `place` is the prompt's position
    in the scope.
    """

    scope: str
    key: str
    place: str

    def inside(self, step: str) -> str:
        """Returns the name of the scope for a step of this prompt, such as a tool call."""
        return f"{self.scope}/{self.key}.{self.place}.{step}"

    def another(self, number: int) -> PromptKey:
        """Returns a key with a numbered place, to be used if the place of this key is taken."""
        return self._replace(place=f"{self.place}~{number}")


def order_of(place: str) -> tuple[int, ...]:
    """Returns a sort key for the places of prompts, which puts them in the order of the script."""
    return tuple(map(int, _NUMBER.findall(place)))


class RunScope:
    """A part of a run, which counts its prompts.

    If the part is an overlapping call, the places of its prompts begin with `line`.
    """

    def __init__(self, name: str = "", line: str = "") -> None:
        self.name = name
        self.line = line
        self._asked: Counter[str] = Counter()
        self._lines = 0
        self._lock = threading.Lock()
        self._parts: dict[str, RunScope] = {}

    def asked(self, key: str) -> PromptKey:
        """Counts a call of `prompt` with this key and returns its identity."""
        with self._lock:
            repeat = self._asked[key]
            self._asked[key] += 1
        return PromptKey(self.name, key, f"{self.line}{repeat}")

    def next_line(self) -> Line:
        """Returns a new `Line`, for one group of overlapping calls."""
        with self._lock:
            self._lines += 1
            return Line(self.name, f"{self.line}{self._lines}")

    def part(self, name: str) -> RunScope:
        """Returns the scope with this name inside of this scope. Creates it at the first call."""
        with self._lock:
            whole = f"{self.name}/{name}" if self.name else name
            return self._parts.setdefault(name, RunScope(whole, self.line))


class Line(NamedTuple):
    """A group of calls that may overlap, in one scope."""

    scope: str
    name: str

    def call(self, number: int) -> RunScope:
        """Returns the scope of the call with this number."""
        return RunScope(self.scope, f"{self.name}.{number}:")


_root = RunScope()


def root() -> RunScope:
    """Returns the scope of the process's run."""
    return _root


def begin_run() -> None:
    """Begins another run in the process. All counts of prompts start again."""
    global _root
    _root = RunScope()


def current_scope() -> RunScope:
    """Returns the innermost scope around the code that runs, by default that of the whole run."""
    return current_context().scope or _root


@contextmanager
def within(scope: RunScope) -> Generator[None]:
    """Makes `scope` the current scope inside of the `with` block."""
    with Block(scope=scope):
        yield


@contextmanager
def journal_scope(name: str) -> Generator[None]:
    """Names a part of a run, such as the work on one row.

    A journal keeps the prompts of the part separate from equal prompts elsewhere. Use it for the
    parts that your own threads run. It has no effect without a journal.
    """
    with within(current_scope().part(name)):
        yield


def idempotency_key() -> str:
    """Returns a key for the current tool call: the same key if a resumed run repeats the call."""
    return current_scope().name


def enclosing_scopes(scope: str) -> Iterator[str]:
    """Yields the names of a scope and its enclosing scopes, innermost first."""
    while scope:
        yield scope
        scope = scope.rpartition("/")[0]
